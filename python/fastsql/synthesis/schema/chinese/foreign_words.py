"""Chinese words for questions that a database does not answer. A frame's places are {rows}, {one}, {label} and {unit}.

{high} and {low} are words for much and little of what the label says.
"""

from __future__ import annotations

from fastsql.synthesis.schema.foreign_words import Foreign

ENDS = (
    "日期",
    "时间",
    "名称",
    "编码",
    "代码",
    "金额",
    "费用",
    "价格",
    "数量",
    "类型",
    "状态",
    "地址",
    "电话",
)
"""Words by which names of several columns may end, and which alone tell none of them."""

TO_PERSONS = ("[帮我|请]给{rows}[发一封邮件|发个通知|打个电话]",)
"""Frames that only persons have a place in."""
TO_CHOOSE = ("{rows}里你最喜欢哪{unit}？", "你[推荐|觉得应该选]哪{unit}{one}？")
"""Frames in which neither a patient nor something that happened has a place: nobody chooses among them."""
TO_WORRY_ABOUT = "我[需要|应该]为{rows}担心吗？"
"""A frame in which only persons have a place that are cared for."""

FRAMES = {
    "prediction": (
        "[请问|][明年|下个月|五年后]{rows}的{label}会是多少？",
        "[预计|你觉得][明年|下个月|今年年底]会有多少{unit}{rows}？",
        "[帮我|请]预测一下{rows}的{label}[明年|下个月|未来几年]的[变化|走势]",
        "{rows}的{label}[以后|接下来|明年]会[上升|下降]吗？",
        "未来[一年|三年|半年]{rows}的数量会[增加|减少]多少？",
    ),
    "opinion": (
        *TO_CHOOSE,
        "你觉得{rows}的{label}[合理吗|是不是太{high}了|正常吗]？",
        "大家[对{rows}怎么看|怎么评价{rows}]？",
        TO_WORRY_ABOUT,
    ),
    "cause": (
        "为什么{rows}的{label}[这么{high}|这么{low}|会变化]？",
        "{rows}[这么多|这么少]是什么原因？",
        "是什么导致了{rows}的{label}[上升|下降|偏{high}]？",
    ),
    "action": (
        "[删除|删掉|清空][所有|全部|]{rows}",
        *TO_PERSONS,
        "[新增|添加|新建]一{unit}{one}",
        "把{rows}的{label}[改成0|增加百分之十|翻倍]",
        "[把|请把]{rows}[打印出来|导出成PDF|归档]",
        "[明天|下周]提醒我[查看|处理]{rows}",
    ),
}
"""By kind, what is asked of a query's rows and amounts that no query says."""

OUTSIDE = (
    Foreign("[今天|明天|周末]天气[怎么样|好不好]？", ("天气", "气温", "气候")),
    Foreign("[讲|说]个笑话[|吧|给我听]", ("笑话",)),
    Foreign("[怎么|如何][重置|修改]我的密码？", ("密码", "账号", "用户")),
    Foreign("[帮我|请]把“早上好”翻译成[英语|法语|日语]", ("翻译", "语言")),
    Foreign("[写|帮我写]一首关于[大海|秋天|友谊]的诗", ("诗", "作者")),
    Foreign("[澳大利亚|秘鲁|挪威]的首都是[哪里|什么]？", ("首都", "国家", "城市")),
    Foreign("今晚[看什么电影|听什么歌]好？", ("电影", "歌", "音乐")),
    Foreign("[怎么|如何]做[蛋糕|面包|红烧肉]？", ("菜", "食谱", "食物")),
    Foreign("现在[几点了|东京是几点]？", ("时区",)),
    Foreign("[电话|蒸汽机|青霉素]是谁发明的？", ("发明",)),
    Foreign("[17乘以23|1764的平方根|12加30][等于|是]多少？", ()),
    Foreign(
        "[帮我[订个披萨|叫辆出租车|订一张桌子]|能不能帮我[订个披萨|叫辆出租车]？]", ("餐厅", "预订", "订单")
    ),
    Foreign("你是[人|机器人|真人]吗？", ()),
    Foreign("[象棋|扑克|网球]的规则是什么？", ("比赛", "运动", "选手")),
)
"""What no such database is about."""
