"""The wording of questions that no database answers, whatever it is about; `hospital_wordings` has those for hospitals.

{item} stands for the label of a table and {part} for that of a column, {name} for a value that answerable questions name.
Alternatives are set in brackets; GENERAL_TAILS may follow any of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from fastsql.training.calibration.unanswerable.hospital_wordings import OUTSIDE, VAGUE, WRITING

ENGLISH: Mapping[str, tuple[str, ...]] = {
    VAGUE: (
        "How is {name} doing[| these days| in general]?",
        "[Is|Was] everything all right with [the |]{item}[| so far]?",
        "[Show me|Tell me|Give me] the important [things|facts|points] about {name}[| please]",
        "What about the {part} of that one?",
        "Is this {item} better [than before|than the other one|now]?",
        "Is that [usual|normal|a lot] for a {part}?",
        "[And|So] what happened to the {item} [then|after that|next]?",
        "[Show|Find|List] the interesting {item}",
        "How many of the {item} are [good|bad|relevant|like that]?",
        "Which of those {item} [should I look at|matter most|did you mean]?",
        "Can you check the {part} [again|from before|we discussed]?",
        "What is the [situation|story|matter] with {name}?",
        "Compare {name} [with the other one|to the usual|with what we had]",
        "Do the same for the other {item}[| as for the last ones]",
        "Which {item} [fit|suit|go] [well together|best]?",
        "Give me [some|a few more of|the rest of] them, sorted by how [nice|useful|typical] they are",
    ),
    OUTSIDE: (
        "What will the weather be like [tomorrow|this weekend|where {name} is]?",
        "Who won the [match|election|lottery] [yesterday|last night] in {name}?",
        "Where can I [park|eat|stay overnight] near {name}?",
        "Why is {name} so [popular|cheap|slow|famous]?",
        "Which [songs|films|books] have been [written|made] about {name}?",
        "How does a {item} work[| inside| in practice]?",
        "Who [invented|discovered|first described] the {item}?",
        "Will the {part} [rise|fall|matter] [next year|soon|in the future]?",
        "[Translate|Spell|Pronounce] {name} [in French|backwards|for me]",
        "Write [a poem|a letter|a short summary] about {name}",
        "What do [people|critics|neighbours] think of {name}?",
        "Should I [buy|trust|recommend] {name}?",
        "What is the best way to [learn about|clean|draw] a {item}?",
        "What is the history of the word {part}?",
        "Is it [legal|safe|polite] to ask {name} about the {part}?",
        "Who is the [tallest|happiest|richest] [cousin|neighbour|dentist] of {name}?",
        "How do I [reset my password|print this page|open the file] of the {item}?",
        "What did {name} [dream of|have for breakfast|complain about]?",
        "What is the difference between a {item} and a [teapot|cloud|proverb]?",
        "Can you [tell a joke|sing a song|guess a riddle] about the {item}?",
    ),
    WRITING: (
        "[Delete|Remove|Erase] [all|the last of the|every one of the] {item}",
        "[Set|Change|Correct] the {part} of {name} [to 5|to something else|to zero]",
        "[Add|Enter|Record] {name} [as a new|to the list of] {item}",
        "[Cancel|Stop|Undo] the last change of the {item}",
        "[Rename|Replace] {name} [with|by] something [else|shorter] in [all tables|every record]",
        "Drop the table of {item}",
        "[Create|Make] a [new table|backup|view] [for|of] the {item}",
        "[Increase|Double|Halve] the {part} of every {item}",
        "[Update|Overwrite] every {part}[| by ten percent]",
        "[Merge|Swap] {name} with [the next one|another one|the duplicate]",
        "[Grant|Give] me [access|the rights] to [change|write] the {item}",
        "[Insert|Append] a row about {name}[| with today's date]",
        "Empty the {item} and [start over|load them again]",
        "[Book|Order|Reserve] {name} for me[| for tomorrow]",
    ),
}

CHINESE: Mapping[str, tuple[str, ...]] = {
    VAGUE: (
        "{name}[最近|现在]怎么样？",
        "[告诉我|说说]{name}的[重要|主要]情况",
        "这些{item}[正常|算多|要紧]吗？",
        "那{item}[后来|接下来]怎样了？",
        "[再查一下|比较一下]之前[那个|说的那些]{part}",
        "[找出|列出]有意思的{item}",
        "哪些{item}比较[好|合适|重要]？",
    ),
    OUTSIDE: (
        "[明天|周末]{name}附近的天气怎么样？",
        "{item}是[谁发明的|怎么运转的|怎么来的]？",
        "为什么{name}这么[有名|便宜|受欢迎]？",
        "{name}[喜欢看什么电影|早饭吃了什么|梦见了什么]？",
        "{part}[明年|将来]会[上涨|下降]吗？",
        "[写一首诗|写一封信|写一段话]介绍{name}",
        "我应该[买|相信|推荐]{name}吗？",
        "怎样[清洗|画|描述]{item}最好？",
    ),
    WRITING: (
        "[删除|清除]所有的{item}",
        "把{name}的{part}改成5",
        "[添加|登记]{name}为新的{item}",
        "[取消|撤销]{item}的最后一次修改",
        "[新建|备份]一张{item}的表",
        "把所有{part}[提高百分之十|清零]",
    ),
}

GENERAL_TAILS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "",
        "[ this year| this month| last year]",
        " [since|in|until] [2008|2015|2019]",
        " [and sort them|and count them|and their {part}]",
        " [for each {part}|by {part}]",
        " [with|without] {name}",
    ),
    "zh": ("", "[今年|本月|去年]", "[2008年|2015年]以来"),
}

GENERAL_WORDING: Mapping[str, Mapping[str, tuple[str, ...]]] = {"en": ENGLISH, "zh": CHINESE}
