"""Chinese words: those that say nothing by themselves, numerals, units, what surrounds numbers.

Entries of a tuple may be parts of regular expressions; a text is a list of characters.
"""

from __future__ import annotations

NO_VALUE = frozenset(("多少", "什么", "哪些", "哪个", "一个", "有没有", "可以", "名称", "编号"))
"""Words that are no value of a database by themselves."""

_GENERAL = """
    病人 患者 医生 医师 护士 人员 科室 医院 门诊 住院 急诊 检查 检验 化验 治疗 手术 诊断 用药 药品 药物 费用
    金额 数量 情况 时间 日期 人数 人次 次数 记录 信息 其他 一般 普通 正常 异常 男性 女性 年龄 中国 公司 学生
    老师 学校 城市 平均 最高 最低 最大 最小 超过 大于 小于 高于 低于 所有 全部 没有 不是 进行 慢性 急性 感染
    中毒 建议 复查 就诊 职工 居民 机构 银行 集团 药业 制药 体重 血压 蛋白 呼吸 消化 神经 注射 中心 血液 基础
    指数 专项 机关 单位 炎症 疼痛 老年 孩子 成人 儿童 家属 标准 等级 级别 类型 方式 状态 结果 项目 部门
"""
GENERAL = frozenset(_GENERAL.split())
"""Words that everything is asked with: by themselves they are no part of a value."""
CALLED = {"死亡": ("去世", "病故", "病逝", "身亡", "过世", "离世", "亡故"), "治愈": ("治好", "痊愈")}
"""Values, and what people call them."""
DEPARTMENT = "科"
"""How departments' names end."""
AFTER_WORDS = "的有是在和与或、，。？?,患病者人男女高低偏多少不超过大小等没了吗呢都各数占率阳阴正异为最平上下"
BEFORE_WORDS = (
    "的有是在和与或、，。？?,因患得为用做了对由经及查把从开吃按每各所个位名例条次年月日天过里中用把给哪些"
)
"""Letters with which words behind and before a value begin and end. Between others, a part of it is one of a longer word."""
NAMES_OF_PERSONS = "姓名|(?:医生|医师|护士|患者|病人|人员|员工|学生|老师|教师)名|(?:医生|医师|护士|[人员])$"
"""In the labels of columns that hold them."""

# ---------------------------------------------------------------- numerals

ONE_TO_NINE = "一二三四五六七八九"
DIGITS = {letter: value for value, letter in enumerate(f"零{ONE_TO_NINE}")}
DIGITS |= {
    "〇": 0,
    "两": 2,
    "壹": 1,
    "贰": 2,
    "叁": 3,
    "肆": 4,
    "伍": 5,
    "陆": 6,
    "柒": 7,
    "捌": 8,
    "玖": 9,
}
TENS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
SCALES = {"万": 10**4, "亿": 10**8}
NUMERALS = "".join((*DIGITS, *TENS, *SCALES))
"""Every character of a numeral."""
SCALES_BEHIND_DIGITS = {"千": 10**3, "万": 10**4, "亿": 10**8}

# ---------------------------------------------------------------- units and what surrounds numbers

CLASSIFIERS = (
    "[个次种位名年天日周岁元块张份例项人条分秒倍门家所盒片粒支号只毫克升斤米度层篇部本场届类成%台瓶袋针级期点以多来间]",
    "[笔楼床辆批趟轮遍回组套箱件滴句顿页步栋排户科管枚]",
    *("小时", "星期", "季度", "公斤", "公里", "厘米", "戈瑞"),
)
"""Behind a numeral, these say that it counts something."""
TENTHS = "成(?![人员年本功果份熟立绩交])"
"""Behind a numeral, tenths of the whole: 九成 is 90 % of it."""
HALF = ("一半", "半数", "(?<!超)过半(?![个年月天小])")
"""Half of the whole."""
RATE = (
    "(?<![心频概效功汇利税])率(?=(?:是|有|为|分别|各|都)*"
    "(?:多少|多高|多大|几|怎么样|如何|最|排|高|低|超过|大于|小于|不到|不足|达|在|[,?。]|$))"
)
"""A share of a hundred that is asked for or compared by the name of a rate."""
NO_DAYS = ("共", "直", "般", "些", "样", "旦", "定")
"""Behind 一, these make another word of it, and no day of a month."""
COMPARING = (
    *(
        "前",
        "第",
        "百分之",
        "大于",
        "小于",
        "等于",
        "超过",
        "多于",
        "少于",
        "高于",
        "低于",
        "不足",
        "至少",
        "最多",
    ),
    *("不到", "达到", "达", "为", "是", "满", "近", "过去", "过", "上", "超"),
    *("最近", "排名", "倍", "到", "至"),
)
"""Before a numeral, these do."""
TIMES = ("年", "月", "天", "周", "星期", "小时", "季度")
COUNTED = (
    *("元", "万", "千", "毫升", "毫克", "克", "次", "个", "人", "岁", "天", "份", "例"),
    *("分", "块", "种", "名", "位", "条", "项", "张", "家", "倍"),
)
"""Behind four digits, these say that the number is no year."""
DURATIONS = ("周", "星期", "礼拜", "季度")
"""Units of time that SQL counts in smaller ones."""
OR, AND = ("或者", "或"), ("和", "与", "及", "以及")
"""Between what is listed."""
FROM, BETWEEN = "于从自由", ("之间", "间", "期间")
"""What stands before a range of times, and behind it."""
UNITS_OF_DURATIONS = {"day": "(?<![今昨明前后每当同某一])天", "hour": "小时|钟头", "minute": "分钟"}
BEFORE_RELATIVE_TIMES = ("最近", "过去", "近", "未来", "今后", "每", "同")
"""Before a unit, or a number of them, these tell a point in time or how often something happens."""
BEHIND_RELATIVE_TIMES = ("以前", "之前", "前", "以后", "之后", "后", "以内", "之内", "内")
HALVES = {"年": 6, "月": 15, "小时": 30}
"""Half of a unit in the unit below."""
DECADES = (r"(?:多|来|几)岁", r"岁(?:年龄)?段")
"""Behind a multiple of ten: ages of a decade."""
BORN_IN = r"(?<![0-9:：.到至于])(?P<year>[5-9]0|[01]0)后(?=$|[^\w]|[的和与有男女]|病人|患者|医生|护士|职工|员工|群体|人群)"
"""Those who were born in a decade: 90后."""
MINUS = ("负", "零下")

# ---------------------------------------------------------------- times of day

HALVES_OF_DAY = ("上午", "下午", "晚上", "早上", "凌晨")
AFTERNOON = frozenset({"下午", "晚上"})
NOON = "中午"

PARTS_OF_YEARS = {"上半年": (1, 2), "下半年": (2, 2)} | {
    f"{nth}季度": (number, 4)
    for number, digit in enumerate(ONE_TO_NINE[:4], start=1)
    for nth in (f"第{digit}", digit, f"第{number}", f"{number}")
}
"""Behind a year: which part of how many equal ones."""
PARTS_OF_MONTHS = {"上旬": (1, 10), "中旬": (11, 20), "下旬": (21, 31)}
"""Behind a month: from which day to which."""
TO = ("[到至]", "[~—–-]+")
"""Between two dates, these make a range of them."""

# ---------------------------------------------------------------- comparisons

COMPARED = {
    "gt": ("大于", "高于", "超过", "多于", "晚于", "＞"),
    "ge": (
        *("不小于", "不低于", "不少于", "至少", "大于等于", "大于或等于", "不早于"),
        *("达到", "满", "已满", "年满"),
    ),
    "lt": ("小于", "低于", "少于", "不足", "不到", "早于", "＜", "不满", "未满"),
    "le": (
        "不大于",
        "不高于",
        "不超过",
        "不多于",
        "至多",
        "最多",
        "小于等于",
        "小于或等于",
        "不晚于",
        "截至",
        "截止到",
    ),
    "eq": ("等于", "＝"),
    "ne": ("不等于", "不是", "不为", "非", "不", "≠"),
}
"""Before a value, these say how it is compared."""
BOUNDS = tuple(word for sign in ("gt", "ge", "lt", "le") for word in COMPARED[sign])
"""Those that say more or less."""
COMPARED_BEHIND = {
    "gt": ("之后", "以后"),
    "ge": ("以上", "及以上", "或以上", "或更多", "或更高", "以来", "及以后", "及之后"),
    "lt": ("之前", "以前"),
    "le": (
        *("以下", "以内", "及以下", "或以下", "或更少", "或更低", "为止", "及以前", "及之前"),
        *("底之前", "底以前", "底前", "末之前", "末以前", "末前"),
    ),
}
"""Behind a value and its unit, these do. 以上 and 以下 take the value in (Civil Code of China, article 1259)."""
TIMES_BEHIND = ("之后", "以后", "之前", "以前")
"""Those of them that speak of times alone: what a patient had before is no number."""
_ENDS = (
    "(?=$|[^\\w]|[的入出就住来去到做开登挂确注办购签录参]|发[布行表生现]|成立|完成|建[立档]|检[查验]|手术|报[告名]|诊断|上市|毕业|结[束算]"
    "|有|还|共|一共|总共)"
)
"""Behind 前, 后 and 起, these say that no longer word begins with them: 前列腺, 后腹膜, 起病."""
DATED_BEHIND = {
    "gt": f"(?:份|日|号)?后{_ENDS}",
    "ge": f"(?:份|日|号)?(?:起{_ENDS}|至今|以来)",
    "lt": f"(?:份|日|号)?前{_ENDS}",
}
"""Behind a date alone, these do."""
FROM_ON = ("[自从]", "(?:份|日|号)?(?:开始|起)")
"""Before a date and behind it, the two of these do."""
EXCEPT = ("除(?:了|去|开)?", "(?:[之以])?外")
"""Before a value and behind it, the two of these leave it out."""
DENIALS = ("不", "没", "未", "非", "除")
"""Before all that, these may turn it around."""
LEFT_OUT = ("去掉", "去除", "剔除", "无")
"""These leave out what they name."""

NEITHER = "(?:也|又|亦)(?:不是|不在|不属于|不为|非)"
"""Before the second of two values, this denies both."""
FIRST_OF_TWO = "既?不(?:是|在|属于|为)?|既?非"
OLDEST = ("(?:年龄|年纪|岁数)最大", "最年长", "最年老")
YOUNGEST = ("(?:年龄|年纪|岁数)最小", "最年轻")
EARLIEST_FIRST = (*OLDEST, "最早")
LATEST_FIRST = (*YOUNGEST, "最晚", "最新", "最近(?:的|一次)")
"""Of points in time, a day of birth among them."""
AGES = ("年龄", "年纪", "岁数")
"""In the names of columns that hold the largest number for the oldest."""

# ---------------------------------------------------------------- what no query computes

UNCOMPUTED = (
    *("中位数", "中位值", "中值", "标准差", "标准偏差", "标准误差?", "协?方差"),
    *("四分位数", "四分位距", "相关系数", "相关性", "置信区间"),
    *("几何平均", "加权平均", "移动平均", "滑动平均"),
)
"""Statistics that the grammar has no word for."""
UNSAID_PERIODS = (
    "(?<![成基样版标文剧脚课日以之线网床晚早])(?:上上|上|本|这|这一|上一)个?(?:周(?![期岁转])|星期|礼拜)[一二三四五六日天]?(?![年岁])",
    "(?<![以之线网])上{1,2}个?季度",
    "(?<![成基样版标])(?:本|这个|当前)季度",
)
"""Periods that models have not learnt to say; rules put some of them in (`parser/periods.py`)."""
