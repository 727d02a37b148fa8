"""Chinese names of rows and columns, and the measure words by which rows are counted."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence

from fastsql.profile.model import ColumnProfile, TableProfile

_IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_FLAGS = ("是否", "有无", "能否", "可否")
_ENDS_OF_FLAGS = ("标志", "标识", "标记", "与否")
_YES_AND_NO = {"是", "否", "有", "无", "0", "1", "Y", "N"}
_TABLES_OF_A_KIND = ("报表", "量表", "仪表", "代表", "手表", "图表", "电表")
"""Things whose names end as those of tables do."""
_MEASURES = (
    ("条", "排班 班次 记录 明细 台账 日志 医嘱 诊断 体征 库存 成绩 评价 结果 访视"),
    ("份", "报告 报告单 合同 问卷 申请 标本 样本 档案 影像 病历"),
    (
        "名",
        "医护 患者 病人 医生 牙医 大夫 护士 员工 职工 学生 同学 居民 婴儿 新生儿 宝宝 孕妇 产妇 对象 旅客 乘客 顾客 买家",
    ),
    ("名", "人 者 员 师 客人 选手 主任"),
    (
        "次",
        "就诊 就医 住院 手术 检查 检验 会诊 随访 比赛 赛事 预约 分娩 放疗 化疗 抢救 治疗 筛查 产检 彩超 接诊",
    ),
    (
        "次",
        "看诊 门诊 发血 配血 输注 出车 转科 转诊 跌倒 透析 体检 登记 考核 考试 培训 评估 评分 晚点 故障 接种",
    ),
    (
        "次",
        "分诊 留观 置管 化验 建档 麻醉 开刀 机械通气 拍片 住科 观察 监测 检测 请假 转运 急救 报废 进球 结算 借阅",
    ),
    ("张", "单 处方 药方 方子 账单 发票 车票 票 床 床位 牙椅 诊椅 椅位 牙片"),
    ("家", "医院 公司 机构 诊所 药房 企业 单位 出版社 供应商 供货商 门店 分店 店铺 商家 俱乐部"),
    ("台", "设备 仪器 透析机 血透机 机器 冰箱 呼吸机"),
    ("种", "药品 疫苗 菜品 商品 货品 饮片 药材 方案 品种 种类"),
    ("项", "项目"),
    ("例", "病例 不良反应 副作用 并发症"),
    ("处", "压疮 褥疮 损伤 病灶"),
    ("本", "图书 书籍"),
    ("门", "课程"),
    ("袋", "血袋 血液制品"),
    ("间", "手术间 手术室 诊室 阅览室 阅读室"),
    ("支", "球队"),
    ("座", "球场 体育场 车站"),
    ("趟", "车次 列车"),
)
"""Measure words, and how the nouns end that take them."""
_ENDS = tuple((word, tuple(ends.split())) for word, ends in _MEASURES)
_PERSONS = ("名",)
_EVENTS = ("条", "份", "次", "张")
_THINGS = ("台", "种", "项", "本", "门")
_STAFF = (
    "教师",
    "老师",
    "医生",
    "医师",
    "大夫",
    "护士",
    "技师",
    "药师",
    "术者",
    "医护",
    "医护人员",
    "助产人员",
    "护理人员",
    "接种人员",
    "接种员",
    "检验人员",
    "值班人员",
    "牙医",
)
_OF_STAFF = ("排班", "班次", "请假", "考核", "培训", "合同", "工资", "评价", "考勤")
"""What the staff has like anybody else, and is not in charge of."""
_SAME = (
    ("患者", "病人", "病患", "病员", "就诊者", "就医者"),
    ("医生", "医师", "大夫", "牙医"),
    ("医护", "医护人员", "人员"),
    ("学生", "同学"),
    ("教师", "老师"),
    ("护士", "护理人员", "接种人员", "接种员"),
    ("技师", "检验人员"),
    ("家庭医生", "签约医生", "家医"),
    ("孕妇", "产妇", "孕产妇"),
    ("受检者", "受检人", "病人"),
    ("乘客", "旅客"),
    ("顾客", "买家", "会员"),
    ("体育场", "球场"),
    ("俱乐部", "球队"),
    ("读者", "借阅者"),
    ("员工", "职工"),
)
"""Words for one kind of rows: the name of 患者 may be in a column 病人姓名."""
_KEY = re.compile(r"(?:ID|Id|id|编号|代码|编码|号码|号)$")
OWN_KEYS = ("ID", "id", "编号", "代码", "编码")
_OPENED = re.compile("^(?:所属|对应|所在|所用|所占)")
_RANKS = re.compile(r".*(号|号码|号序|序号|排名|名次|楼层|层|级|等级|级别|分级|剂次|星级|年份|年度)|第几.*")
_NUMBERS = re.compile(r".*(号|号码|号序|序号)")
_NOT_SUMMED = re.compile(
    r"(平均|年均|日均|人均).*|.*(率|比例|百分比|比|指数|指标|龄|身高|身长|体重|压|温|温度|脉搏|心跳|血氧|血糖|视力|"
    r"单价|价格|价|定价|标准|"
    r"围|宫高|胎心|评分|得分|分数|分|程度|质量|状态|浓度|上限|下限|年限|年数|速度|速|流量|血红蛋白|白细胞|计数|激素|乳酸|钾|磷|肌酐|值|大小|径|"
    r"孕周|周数|规格|容量|容积|面积|折扣|扭矩|深度|温差|最大.*|最高.*)"
)
_AMOUNTS = ("库存",)
"""Rows that are called as an amount is."""
_SORTS = (
    "型",
    "类",
    "类型",
    "类别",
    "种类",
    "方式",
    "性质",
    "剂型",
    "方法",
    "状态",
    "原因",
    "规格",
    "情况",
    "结局",
)
"""How columns end that tell sorts of things."""
_WORD_ENDS = ("者", "人", "员", "师", "单", "号", "性", "率", "量", "数")
"""What ends a word, so that nothing before it is left out: 借阅者ID of 借阅."""
_UNITS = ("分钟", "小时", "人数", "次数", "天数", "时间", "日期")
"""What a column is not called alone: 进球的分钟 is no time of a goal."""
_SHORTEST = 2


def is_chinese(text: str) -> bool:
    """Whether a text holds an ideograph."""
    return _IDEOGRAPH.search(text) is not None


def says_yes_or_no(values: Collection[object]) -> bool:
    """Whether the values of a column are those of a yes and a no."""
    return bool(values) and {str(value) for value in values} <= _YES_AND_NO


def is_flag(name: str) -> bool:
    """Whether a column says yes or no."""
    return name.startswith(_FLAGS) or name.endswith(_ENDS_OF_FLAGS)


def is_rank(name: str) -> bool:
    """Whether a column of numbers tells a place or a level, whose mean and total say nothing: 排队号, 楼层."""
    return _RANKS.fullmatch(name) is not None


def is_running_number(name: str) -> bool:
    """Whether a column of numbers tells what is called so, which is neither more nor less than another: 排队号."""
    return _NUMBERS.fullmatch(name) is not None


def is_summed(name: str) -> bool:
    """Whether amounts of that name add up: prices, shares, weights and pressures do not."""
    return not is_rank(name) and _NOT_SUMMED.fullmatch(name) is None


def is_person(noun: str) -> bool:
    """Whether a row is a person."""
    return measure(noun) in _PERSONS


def is_event(noun: str) -> bool:
    """Whether a row is something that happened, or a paper of it."""
    return measure(noun) in _EVENTS


def is_thing(noun: str) -> bool:
    """Whether a row is a thing that others have to do with, and do not belong to: a drug, a machine."""
    return measure(noun) in _THINGS


def is_staff(noun: str) -> bool:
    """Whether a row is somebody who works there."""
    return noun.endswith(_STAFF)


def is_in_charge(noun: str, of: str) -> bool:
    """Whether persons of that name are those who do what a row of another name is: doctors, who have no prescriptions."""
    return is_staff(noun) and not of.removesuffix("记录").endswith(_OF_STAFF)


def is_key(label: str) -> bool:
    """Whether a label is that of an identifier."""
    return _KEY.search(label) is not None


def role(label: str) -> str:
    """What a key says of the row that it refers to: 接诊医生 of 接诊医生ID; empty where it says nothing."""
    said = _OPENED.sub("", _KEY.sub("", label))
    return said if len(said) >= _SHORTEST and is_chinese(said) else ""


def row(table: TableProfile, rng: random.Random, others: Sequence[TableProfile] = ()) -> str:
    """A row of a table: 患者 for 患者信息表; as the table is called where rows of one of the `others` would be called so."""
    said = _said(table, rng)
    short = _without_table(said)
    return said if any(_without_table(one.called) == short for one in others) else short


def label(
    column: ColumnProfile,
    table: TableProfile,
    others: Sequence[ColumnProfile],
    rng: random.Random,
    *,
    is_key: bool = False,
) -> str:
    """A column, without its table where its label repeats that: 姓名 of 患者, not 患者姓名.

    `others`: the table's other columns; the shorter name must be part of none of theirs, but for the table's own key
    (`is_key`): 编号 of 患者 is that of the patient, whatever others there are.
    """
    said = _said(column, rng)
    for name in (table.called, table.words, *table.synonyms):
        short = _without_opening(said, _without_table(name))
        is_clear = (is_key and short in OWN_KEYS) or not any(short in one.called for one in others)
        if short != said and len(short) >= _SHORTEST and short not in _UNITS and is_clear:
            return short
    return said


def _without_opening(label: str, noun: str) -> str:
    """A label without what it says of its row: 姓名 for 医护姓名 of 急诊医护, 病人姓名 of 患者."""
    ends = [noun[start:] for start in range(len(noun) - 1)]
    ends += [one for same in _SAME if noun.endswith(same) for one in same]
    shorter = (label.removeprefix(end) for end in ends if label.startswith(end))
    return next((short for short in shorter if not short.startswith(_WORD_ENDS)), label)


def number_of(noun: str, taken: Collection[str]) -> str:
    """How many rows there are, in words that are no column's: 库存记录数量 where a column is 库存数量."""
    if noun.endswith(_AMOUNTS) or f"{noun}数量" in taken:
        return f"{noun}记录数量"
    return f"{noun}数量"


def measure(noun: str) -> str:
    """The measure word of a noun, by its longest known end: 名 for 患者, 条 for 记录."""
    found = [(len(end), word) for word, ends in _ENDS for end in ends if noun.endswith(end)]
    return max(found, default=(0, "个"))[1]


def kind_measure(label: str) -> str:
    """The measure word of what a column holds: 种 for 血型 and 就诊类型."""
    return "种" if label.endswith(_SORTS) else "个"


def _said(item: TableProfile | ColumnProfile, rng: random.Random) -> str:
    names = [name for name in (item.called, item.words, *item.synonyms) if is_chinese(name)]
    name = item.called if not names or rng.random() < 0.6 else rng.choice(names)
    return name.replace("_", "").replace(" ", "") if is_chinese(name) else name


def _without_table(name: str) -> str:
    """The name of a table as that of one of its rows."""
    for end in ("表", "信息", "目录", "字典"):
        if name.endswith(end) and not name.endswith(_TABLES_OF_A_KIND) and len(name) >= len(end) + _SHORTEST:
            name = name.removesuffix(end)
    return name
