"""Words in names of columns that tell what kind a column is of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fastsql.profile.english import word_set

IDENTIFIERS: Final = word_set(
    """
    id identifier uuid guid passport license licence drivers key rowid mrn ssn ids email phone telephone
    fax url uri username npi barcode rowguid
    """
)
"""As the last word."""
NUMBERED: Final = word_set(
    """
    record account phone telephone policy license licence serial order invoice claim case encounter room
    bed ticket passport security certificate registration vehicle patient employee student member card
    document file seat line identification
    """
)
"""Before a last "number": not how many, but which."""
CODES: Final = word_set(
    """
    code codes iata icao icd icd9 icd10 loinc snomed rxnorm atc cpt hcpcs ndc fips zip postcode postal drg iso isbn
    """
)
CATEGORIES: Final = word_set(
    """
    type types status state sex gender race ethnicity religion language nationality continent class category kind
    group level grade stage flag yn indicator insurance route priority severity marital country city county
    region department ward unit units method mode frequency location specialty outcome disposition result
    color colour role  section sector form format source division currency measure uom season weekday
    shift triage
    """
)
NAMES: Final = word_set(
    """
    name names title titles label surname forename firstname lastname nickname brand author organization
    company hospital drug medication diagnosis procedure product facility provider physician doctor city
    school street
    """
)
TEXTS: Final = word_set(
    """
    description descriptions comment comments note notes remark remarks text summary narrative message
    body content abstract details detail instructions history finding findings impression address
    directions reason
    """
)
DATES: Final = word_set(
    """
    date time datetime at timestamp day month year birthday dob dod birth death quarter founded established built
    inaugurated elected
    """
)
"""As the last word, of columns of any type."""
DURATIONS: Final = word_set("run running elapsed waiting response play lap finish")
"""Before a last "time": how long, and not when."""
MONEY: Final = word_set(
    """
    cost costs price charge charges fee fees payment payments paid pay balance revenue income salary
    budget tax expense expenses copay copayment coverage deductible profit sales discount fine wage bonus
    debt earnings turnover tuition premium refund due billed outstanding owed payable receivable
    """
)
COUNTS: Final = word_set(
    """
    count counts quantity population visits attendance votes members employees students patients
    encounters admissions claims items beds seats tickets orders goals wins losses points
    """
)
AMOUNTS: Final = (
    MONEY
    | COUNTS
    | word_set(
        """
    amount amounts total sum volume stock capacity supply supplies dispenses refills
    """
    )
)
MEASURES: Final = word_set(
    """
    weight height length width depth age duration temperature pressure rate ratio percent percentage
    proportion share score speed dose dosage concentration saturation bmi latitude longitude distance area
    size value reading level hours minutes days weeks months years stay index average mean median minimum
    maximum hemoglobin glucose creatinine potassium sodium
    """
)
TEXT_MEASURES: Final = (MEASURES - word_set("value level reading index area size share stay")) | word_set(
    """
    rank week round lap pick episode season act decile percentile yield displacement wingspan horsepower sunrise
    sunset
    """
)
"""Measures that may stand in a column of text."""
TEXT_AMOUNTS: Final = word_set(
    """
    cost costs price prices fee fees salary income incomes revenue budget wage wages earnings turnover winnings money
    count counts quantity population attendance crowd votes goals wins losses points fans followers viewers beds seats
    capacity amount total teachers pupils students passengers deaths births races poles podiums laps starts caps tries
    appearances matches games rebounds assists tackles sacks yards touchdowns medals episodes rooms floors acres
    installs downloads households ratings casualties apps
    """
)
"""Amounts that may: no thing has a name that ends in one of these."""
NO_SUMS: Final = word_set(
    """
    latitude longitude rank position sequence order version year month day line page floor index priority
    level grade stage number rowid week round lap pick episode season act chapter scene decile percentile
    game match no ref lane chromosome certificate channel district precinct beat
    """
)
"""Numbers of which neither a sum nor a mean says anything."""
NO_SUMS_CHINESE: Final = ("赛季", "轮次", "轮数", "名次", "排名", "届数", "楼层", "版本")
"""The same, as ends of labels."""
PERSONS: Final = word_set(
    """
    patient patients person persons people subject subjects staff employee employees physician physicians
    doctor doctors nurse nurses provider providers practitioner practitioners user users member members
    student students customer customers client clients beneficiary beneficiaries donor donors resident
    residents author authors contact contacts teacher teachers participant participants recipient recipients
    individual individuals infant infants newborn newborns neonate neonates baby babies child children mother
    mothers father fathers parent parents veteran veterans enrollee enrollees insured subscriber subscribers
    inpatient inpatients outpatient outpatients survivor survivors volunteer volunteers citizen citizens
    worker workers personnel caregiver caregivers relative relatives guarantor guarantors
    """
)
EVENTS_OF_PERSONS: Final = word_set("contact contacts parent parents insured")
"""Of these, what may also be called so that is no person: a row of contacts may be a visit."""
PERSONS_CHINESE: Final = ("患者", "病人", "居民", "人员")
"""In the name of a table."""
OF_PERSONS_CHINESE: Final = ("姓名", "性别", "身份证", "身份证号", "身份证号码")
"""Ends of labels of columns."""
OF_PERSONS: Final = word_set("birth dob surname gender sex email mrn ssn")
FIRST_NAMES: Final = ("first name", "firstname", "given name", "forename", "first")
LAST_NAMES: Final = ("last name", "lastname", "family name", "surname", "last")
LOOKUPS: Final = word_set(
    """
    lookup code codes type types status statuses category categories terminology dictionary vocabulary
    concept concepts
    """
)
"""In the name of a table that is a terminology."""
LOOKUP_PREFIXES: Final = word_set(
    """
    d ref lu lkp lkup tlu dim lookup codes
    """
)

_CHINESE = {
    "identifier": "编号 号 号码 ID id 流水号 标识 主键 序号 邮箱 电话 网址 账号",
    "code": "代码 编码 邮编",
    "date": "日期 时间 年份 年月 生日 年代 年度",
    "category": "性别 类型 类别 状态 等级 标志 民族 婚姻 科室 方式 单位 剂型 频次 学历 职业 国家 省份 城市 语言 "
    "年龄段 级别 种类 模式 颜色 标记",
    "name": "姓名 名称 名",
    "text": "备注 描述 说明 地址 主诉 信息 详情 内容 简介 评论",
    "amount": "金额 费用 费 数量 单价 总额 次数 人数 价格 价 成本 工资 收入 总数 销量 产量",
    "measure": "年龄 身高 体重 体温 值 剂量 用量 比例 率 天数 面积 长度 高度 速度 温度 得分 分数",
}
CHINESE: Final[Mapping[str, str]] = MappingProxyType(
    {end: kind for kind, ends in _CHINESE.items() for end in ends.split()}
)
"""Ends of Chinese labels; the longest that fits decides."""

_UNITS: Final = {
    "kg": "kg", "g": "g", "mg": "mg", "mcg": "mcg", "ug": "mcg", "lb": "lb", "lbs": "lb", "oz": "oz",
    "ml": "ml", "dl": "dl", "cm": "cm", "mm": "mm", "km": "km", "inches": "in", "feet": "ft", "ft": "ft", "miles": "mi",
    "mph": "mph", "knots": "knots", "kph": "km/h", "mmhg": "mmHg", "bpm": "/min", "mmol": "mmol", "meq": "mEq", "iu": "IU",
    "pct": "%", "percent": "%", "percentage": "%", "perc": "%",
    "seconds": "seconds", "secs": "seconds", "minutes": "minutes", "mins": "minutes", "hours": "hours", "hrs": "hours",
    "days": "days", "weeks": "weeks", "months": "months", "years": "years", "yrs": "years",
    "usd": "USD", "eur": "EUR", "dollars": "USD", "euros": "EUR", "celsius": "°C", "fahrenheit": "°F",
    "sqft": "sq ft", "acres": "acres", "hectares": "ha", "kwh": "kWh", "kw": "kW", "mb": "MB", "gb": "GB",
    "元": "元", "岁": "years", "次": "times",
}  # fmt: skip
UNITS: Final[Mapping[str, str]] = MappingProxyType(_UNITS)
"""Words that end a name, and the unit that they say."""
USUAL_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {"age": "years", "年龄": "years", "percent": "%", "percentage": "%"}
)
"""Units that go without saying."""
_IN_TEXT = {*_UNITS, "mg/dl", "g/dl", "mmol/l", "meq/l", "ng/ml", "kg/m2", "l/min", "%"}
_KNOWN = "|".join(sorted(map(re.escape, _IN_TEXT), key=len, reverse=True))
UNIT_IN_TEXT: Final = re.compile(rf"(?:\(|（|\bin |单位[:：]?\s*)({_KNOWN})(?![\w/])", re.IGNORECASE)
"""A unit that a description names: "(mg/dL)", "in kg", "单位：元"."""
