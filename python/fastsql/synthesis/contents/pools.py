"""Words that made-up rows are written with, in English and in Chinese: `POOL[True]` is Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fastsql.profile.english import word_set

Pool = tuple[tuple[str, ...], tuple[str, ...]]


def _pool(english: str, chinese: str) -> Pool:
    """Entries between commas; a Chinese pool that is empty is the English one."""
    first, second = (
        tuple(entry.strip() for entry in text.split(",") if entry.strip()) for text in (english, chinese)
    )
    return first, second or first


FIRST_NAMES: Final = _pool(
    "Ada, Bela, Carla, Dario, Edith, Farid, Greta, Hugo, Ines, Jonas, Karim, Lena, Marta, Nils, Olga, "
    "Pablo, Rosa, Samir, Tilda, Viktor, Wanda, Yusuf, Zoe, Amara, Bruno, Clara, Emil, Fiona, Henry, "
    "Julia, Laura, Martin, Nora, Oscar, Priya, Simon",
    "伟, 芳, 娜, 敏, 静, 丽, 强, 磊, 军, 洋, 勇, 艳, 杰, 娟, 涛, 明, 超, 秀英, 霞, 平, 刚, 桂英, 建国, 晓东, 雨桐",
)
FAMILY_NAMES: Final = _pool(
    "Abbott, Bauer, Costa, Dumont, Ekström, Fischer, Garcia, Hansen, Ibrahim, Jansen, Kovacs, Larsen, "
    "Moreau, Novak, Okafor, Petrov, Quinn, Rossi, Schmidt, Tanaka, Ueda, Vargas, Weber, Xu, Young, "
    "Zimmer, Adler, Brandt, Clarke, Duarte",
    "王, 李, 张, 刘, 陈, 杨, 赵, 黄, 周, 吴, 徐, 孙, 胡, 朱, 高, 林, 何, 郭, 马, 罗",
)
CITIES: Final = _pool(
    "Ashford, Brenville, Carrow, Dunmore, Easton, Farley, Glenwick, Harlow, Ironbridge, Kelso, Lakeside, "
    "Milford",
    "北京, 上海, 广州, 成都, 武汉, 西安, 杭州, 南京, 长沙, 青岛",
)
STREETS: Final = _pool(
    "Mill Lane, Station Road, High Street, Park Avenue, Church Street, River Walk, Elm Court, Hill View",
    "人民路, 中山路, 解放大道, 建设街, 和平里, 长江路",
)
DRUGS: Final = _pool(
    "paracetamol, ibuprofen, amoxicillin, metformin, atorvastatin, omeprazole, salbutamol, ramipril, "
    "bisoprolol, furosemide, heparin, morphine, ondansetron, prednisolone, levothyroxine, sertraline, "
    "apixaban, insulin glargine, ceftriaxone, diazepam",
    "阿莫西林胶囊, 布洛芬片, 二甲双胍片, 阿托伐他汀钙片, 奥美拉唑肠溶胶囊, "
    "头孢曲松钠, 氨氯地平片, 胰岛素, 阿司匹林肠溶片, 地塞米松",
)
DIAGNOSES: Final = _pool(
    "pneumonia, type 2 diabetes, essential hypertension, asthma, heart failure, urinary tract infection, "
    "hip fracture, acute appendicitis, atrial fibrillation, migraine, anaemia, chronic kidney disease, "
    "depression, stroke, sepsis, gout",
    "肺炎, 2型糖尿病, 高血压, 冠心病, 急性阑尾炎, 上呼吸道感染, 脑梗死, 慢性胃炎, 贫血, 骨折",
)
PROCEDURES: Final = _pool(
    "appendectomy, hip replacement, colonoscopy, cataract surgery, dialysis, chest drain, bronchoscopy, "
    "coronary angiography, hernia repair, lumbar puncture, blood transfusion, skin graft",
    "阑尾切除术, 胃镜检查, 白内障手术, 血液透析, 冠状动脉造影, 剖宫产术, 清创缝合术, 结肠镜检查",
)
TESTS: Final = _pool(
    "haemoglobin, white cell count, platelet count, sodium, potassium, creatinine, urea, glucose, "
    "C-reactive protein, troponin, albumin, bilirubin, lactate, ferritin",
    "血红蛋白, 白细胞计数, 血小板计数, 血钠, 血钾, 肌酐, 尿素氮, 葡萄糖, C反应蛋白, 白蛋白",
)
DEPARTMENTS: Final = _pool(
    "cardiology, general surgery, internal medicine, paediatrics, orthopaedics, neurology, oncology, "
    "obstetrics, urology, emergency medicine, dermatology, geriatrics",
    "内科, 外科, 儿科, 妇产科, 骨科, 神经内科, 心内科, 急诊科, 眼科, 肿瘤科",
)
WARDS: Final = _pool(
    "north ward, south ward, children's ward, intensive care, maternity ward, surgical ward, day ward, "
    "stroke unit",
    "一病区, 二病区, 三病区, 重症监护室, 产科病房, 外科病房",
)
HOSPITALS: Final = _pool(
    "Riverside Hospital, St. Anne Clinic, Northgate Medical Centre, Lakeview Hospital, City Infirmary, "
    "Oakwood Clinic",
    "人民医院, 中心医院, 第一附属医院, 中医院, 儿童医院, 第三医院",
)
COMPANIES: Final = _pool(
    "Alder Group, Beacon Ltd, Crestline, Delta Works, Evergreen Partners, Fairway Health, Granite Mutual, "
    "Harbour Supplies",
    "康泰公司, 恒瑞医药, 国药集团, 华康科技, 仁和药业, 同济器械",
)
COUNTRIES: Final = _pool(
    "France, Spain, Germany, Japan, Brazil, Canada, India, Kenya, Norway, Mexico",
    "中国, 日本, 韩国, 法国, 德国, 美国",
)
ADJECTIVES: Final = _pool(
    "silver, northern, quiet, golden, open, early, green, central, bright, western, little, grand",
    "新, 东方, 金, 大, 北, 中华, 长青, 阳光",
)
THINGS: Final = _pool(
    "harbour, garden, bridge, summit, valley, meadow, lantern, compass, orchard, anchor, falcon, maple",
    "星, 河, 山, 园, 桥, 湖, 城, 海, 松, 梅",
)
SENTENCES: Final = _pool(
    "no complaints, seen again in two weeks, advised to rest, family informed, waiting for results, "
    "dressing changed, pain much better, no changes since the last visit, refused further treatment, "
    "transferred at own request, to be discussed in the morning meeting, tolerated well",
    "一般情况良好, 两周后复查, 建议休息, 已通知家属, 等待检验结果, 疼痛较前缓解, 无特殊不适, 注意饮食",
)

_CATEGORIES: Final = {
    "sex gender 性别": ("F, M", "女, 男"),
    "status state disposition 状态": ("active, completed, pending, cancelled", "已完成, 进行中, 待处理, 已取消"),
    "type kind class category group method mode 类型 类别 种类 方式 模式": (
        "standard, urgent, routine, special, other",
        "普通, 急诊, 专科, 特需, 其他",
    ),
    "blood_type blood_group 血型": ("O, A, B, AB", "O型, A型, B型, AB型"),
    "employment_status": ("employed, retired, unemployed, student", ""),
    "smoking_status": ("never, former, current", ""),
    "marital marital_status 婚姻": ("married, single, divorced, widowed", "已婚, 未婚, 离异, 丧偶"),
    "race": ("white, black, asian, other", ""),
    "ethnicity 民族": ("not hispanic, hispanic, unknown", "汉族, 回族, 满族, 壮族"),
    "religion": ("none, catholic, protestant, muslim, jewish, hindu", "无, 佛教, 基督教, 伊斯兰教"),
    "language 语言": ("english, spanish, french, arabic, polish", "普通话, 粤语, 英语"),
    "continent 大洲": (
        "Africa, Asia, Europe, North America, Oceania, South America",
        "非洲, 亚洲, 欧洲, 北美洲, 大洋洲, 南美洲",
    ),
    "nationality country 国家": (", ".join(COUNTRIES[0]), ", ".join(COUNTRIES[1])),
    "insurance 医保": ("public, private, self-pay, employer", "城镇职工医保, 新农合, 自费, 商业保险"),
    "route": ("oral, intravenous, subcutaneous, inhaled, topical", "口服, 静脉注射, 皮下注射, 外用"),
    "frequency 频次": ("once daily, twice daily, three times daily, as needed", "每日一次, 每日两次, 每日三次, 必要时"),
    "severity level grade priority stage 级别 等级": ("low, moderate, high, critical", "轻度, 中度, 重度, 危重"),
    "outcome result": ("recovered, improved, unchanged, died", "治愈, 好转, 未愈, 死亡"),
    "shift": ("day, evening, night", "白班, 晚班, 夜班"),
    "triage": ("green, yellow, orange, red", "一级, 二级, 三级, 四级"),
    "ward unit section 病区": (", ".join(WARDS[0]), ", ".join(WARDS[1])),
    "department specialty division 科室": (", ".join(DEPARTMENTS[0]), ", ".join(DEPARTMENTS[1])),
    "city location county region 城市 省份": (", ".join(CITIES[0]), ", ".join(CITIES[1])),
    "colour color 颜色": ("red, blue, green, black, white, yellow", "红, 蓝, 绿, 黑, 白"),
    "season": ("spring, summer, autumn, winter", "春, 夏, 秋, 冬"),
    "weekday": ("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday", "周一, 周二, 周三, 周四, 周五"),
    "currency": ("EUR, USD, GBP", "CNY, USD"),
    "uom units measure 单位 剂型": ("mg, ml, g, tablet, mmol/L", "mg, ml, g, 片, mmol/L"),
    "source role form format": ("internal, external, referral, online", "内部, 外部, 转诊, 网上"),
    "yn flag indicator 标志 标记": ("Y, N", "是, 否"),
    "occupation 职业": ("teacher, farmer, engineer, clerk, retired, student", "教师, 农民, 工人, 职员, 退休, 学生"),
    "education 学历": ("primary school, secondary school, university, none", "小学, 初中, 高中, 大学"),
}  # fmt: skip
CATEGORIES: Final[Mapping[str, Pool]] = MappingProxyType(
    {word: _pool(*entries) for words, entries in _CATEGORIES.items() for word in words.split()}
)
"""By the word of a column's name, its last two words, or the end of its Chinese label."""
CLINICAL: Final = word_set(
    """
    patient patients admission admissions hospital hospitals clinic clinics diagnosis diagnoses disease
    medication medications medicine drug drugs prescription prescriptions nurse nurses physician physicians surgery
    symptom symptoms therapy encounter encounters blood midwife midwives dental dialysis icd
    """
)
"""Words by one of which a schema is about medicine."""
ELSEWHERE: Final[Mapping[str, Pool | None]] = MappingProxyType(
    {
        word: pool
        for words, pool in (
            ("unit units", _pool("kg, litre, piece, box, metre, hour", "")),
            ("state", _pool("California, Texas, Ohio, Florida, New York, Oregon, Georgia, Maine", "")),
            (
                "department section division",
                _pool("sales, marketing, finance, engineering, logistics, research", ""),
            ),
            (
                "type kind class category group method mode",
                _pool("standard, special, classic, compact, mixed, other", ""),
            ),
            ("outcome result", _pool("won, lost, drawn, nominated, withdrawn", "")),
            (
                """
                ward route frequency triage drug substance diagnosis condition problem procedure
                operation intervention treatment test lab analyte assay clinic specialty service hospital facility site
                """,
                None,
            ),
        )
        for word in words.split()
    }
)
"""What such a word stands for in a schema that is not about medicine; None: nothing that is known."""
REMARKS: Final = _pool(
    "as described, limited edition, very popular, new this year, to be checked, nothing to add, long awaited, "
    "first of its kind, well received, replaced later",
    "",
)
"""Sentences there."""
PLAIN: Final = _pool("regular, extended, basic, mixed, reserved", "甲, 乙, 丙, 丁")
"""Values of a category of which nothing more is known."""

_NAMES: Final = (
    ("drug medication medicine substance 药品 药物", DRUGS),
    ("diagnosis condition disease problem 诊断 疾病", DIAGNOSES),
    ("procedure operation surgery intervention treatment 手术 操作", PROCEDURES),
    ("test lab analyte assay 项目 检验 检查", TESTS),
    ("department clinic specialty service 科室", DEPARTMENTS),
    ("ward unit 病区 病房", WARDS),
    ("hospital facility site 医院 机构", HOSPITALS),
    ("company supplier manufacturer insurer payer vendor organization 公司 厂家", COMPANIES),
    ("city town 城市", CITIES),
    ("country 国家", COUNTRIES),
)
NAMES: Final[Mapping[str, Pool]] = MappingProxyType(
    {word: pool for words, pool in _NAMES for word in words.split()}
)
"""Names of things, by a word of the column or its table."""
