"""The wording of questions that no hospital database answers, by language.

{patient} stands for a patient's number and {name} for a drug, disease, procedure or whatever else answerable questions
name. Alternatives are set in brackets: ``[Please |]show``. TAILS may follow any of them. Questions that no database
whatever answers are in `general_wordings`.
"""

from __future__ import annotations

from collections.abc import Mapping

VAGUE, OUTSIDE, WRITING = "vague", "outside", "writing"
"""Kinds: no one can tell what is asked; it is no matter of such a database; something is to be changed."""

ENGLISH: Mapping[str, tuple[str, ...]] = {
    VAGUE: (
        "How is patient {patient} doing[| these days| in general]?",
        "[Is|Was] everything all right with patient {patient}[| so far]?",
        "[Show me|Tell me|Give me] the important [things|facts|points] about patient {patient}[| please]",
        "What about patient {patient} and {name}?",
        "Is patient {patient} better [than before|than most|now than the other one]?",
        "Is that [usual|normal|a lot] for {name}?",
        "[And|So] what happened [then|after that|next]?",
        "[Show|Find|List] the interesting [ones|cases|entries]",
        "How many of them are [good|bad|relevant|like that]?",
        "Which of those [should I look at|matter most|did you mean] for {name}?",
        "Can you check the [thing|stuff|other one] [again|from before|we discussed]?",
        "What is the [situation|story|matter] with {name}?",
        "Compare it [with the other one|to the usual|with what we had]",
        "Do the same for patient {patient}[| as for the last one]",
    ),
    OUTSIDE: (
        "What will the weather be like [tomorrow|this weekend|around the hospital]?",
        "Who won the [football match|election|marathon] [yesterday|last night|in 2096]?",
        "Where can [I|visitors|a relative of patient {patient}] park [the car|near the hospital]?",
        "What is served in the cafeteria [today|at noon|on Friday]?",
        "Which [songs|films|books] does patient {patient} like [best|most]?",
        "What does patient {patient} do for a living?",
        "What is the [telephone number|home address|e-mail address] of patient {patient}?",
        "Who [visited|called|brought flowers for] patient {patient}[| on Sunday]?",
        "How does {name} work[| in the body| in children]?",
        "What [causes|is known about the causes of|is the latest research on] {name}?",
        "Is {name} [covered by|paid for by|accepted by] the [tax office|employer|embassy]?",
        "Who [invented|discovered|first described] {name}?",
        "What are the [symptoms|warning signs|risks] of {name}[| in old age]?",
        "How should {name} be [explained to a child|stored|disposed of]?",
        "Will patient {patient} [recover|come back|need {name}] [next year|soon|in the future]?",
        "How satisfied was patient {patient} with [the food|the staff|{name}]?",
        "Which [surgeon|trainee|pharmacist] [performs|supervises|is best at] {name}?",
        "Write [a poem|a letter|a short summary] about {name}",
        "[Translate|Spell|Pronounce] {name} [in French|backwards|for me]",
        "How many [beds|lifts|ambulances|chairs] does the hospital [own|have free|need]?",
        "When does the [pharmacy|library|blood bank] [open|close][| on Sundays]?",
        "What did patient {patient} [dream of|have for breakfast|complain about to the chaplain]?",
    ),
    WRITING: (
        "[Delete|Remove|Erase] [all records of|the last entry of|everything about] patient {patient}",
        "[Set|Change|Correct] the [gender|age|date of birth] of patient {patient} [to female|to 61|to 1 May 2040]",
        "[Add|Enter|Record] {name} [for|in the chart of] patient {patient}",
        "[Cancel|Stop|Undo] the {name} of patient {patient}",
        "[Discharge|Admit|Transfer] patient {patient} [now|today|tomorrow morning]",
        "[Rename|Replace] {name} [with|by] something [else|shorter] in [all tables|every record]",
        "Drop the table [of patients|with {name}|that holds admissions]",
        "[Create|Make] a [new table|backup|view] [for|of] {name}",
        "[Increase|Double|Halve] the dose of {name} for patient {patient}",
        "[Update|Overwrite] every [price|cost|result] of {name}[| by ten percent]",
        "[Merge|Swap] patient {patient} with [the next one|another patient|the duplicate]",
        "[Prescribe|Order|Schedule] {name} for patient {patient}[| from now on]",
        "[Grant|Give] me [access|the rights] to [change|write] the records of patient {patient}",
        "[Insert|Append] a row about {name}[| with today's date]",
    ),
}

CHINESE: Mapping[str, tuple[str, ...]] = {
    VAGUE: (
        "患者{patient}[最近|现在]怎么样？",
        "[告诉我|说说]患者{patient}的[重要|主要]情况",
        "{name}的[情况|事情][呢|怎么样]？",
        "那[后来|接下来][呢|怎样了]？",
        "这[正常|算多|要紧]吗？",
        "[再查一下|比较一下]之前[那个|说的那些]",
        "[找出|列出]有意思的[那些|病例]",
    ),
    OUTSIDE: (
        "[明天|周末]医院附近的天气怎么样？",
        "{name}是[谁发明的|怎么起作用的|什么引起的]？",
        "患者{patient}[喜欢看什么电影|做什么工作|的家庭住址在哪里]？",
        "医院食堂[今天|星期五]有什么菜？",
        "哪位护士[昨晚|上周]照顾了患者{patient}？",
        "患者{patient}[明年|将来]会[好起来|再来]吗？",
        "[写一首诗|写一封信|写一段话]介绍{name}",
        "医院还有多少[停车位|救护车|椅子]？",
    ),
    WRITING: (
        "[删除|清除]患者{patient}的[全部|最后一条]记录",
        "把患者{patient}的[性别改成女|年龄改成61岁]",
        "给患者{patient}[添加|登记|开]{name}",
        "[取消|停止]患者{patient}的{name}",
        "[新建|备份]一张{name}的表",
        "把所有{name}[换成别的|提高百分之十]",
    ),
}

TAILS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "",
        "[ this year| this month| last year]",
        " [since|in|until] [2099|2100]",
        " [on the first hospital visit|during the last stay|on the current visit]",
        " [in the last|within] [two|three|six] months [of the first stay|before the last visit|on this unit]",
        " after [having received|being given|the first] {name}",
    ),
    "zh": ("", "[今年|本月|去年]", "[2099年|2100年]以来"),
}

WORDING: Mapping[str, Mapping[str, tuple[str, ...]]] = {"en": ENGLISH, "zh": CHINESE}
