"""How people speak of each kind of event: a verb for every place of a sentence where one can stand.

Texts are phrases of the little grammar of `phrases.expand`; ``{x}`` is the item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Frame:
    """The phrases of one kind of event.

    `did` follows "patient N", `were` "patients", `base` "did patient N", `been` "has patient N", `after` the word "after";
    `act` is a noun for one event. The second three speak of an event without an item. `one` and `many` name the kind;
    `asked` is the participle in "the most frequently ...". In front of the kind's own name, `had` follows "has patient N",
    `past` "patient N", and `do` "did patient N". Phrases that nobody uses of a kind are empty.
    """

    one: str
    many: str
    did: str = ""
    were: str = ""
    base: str = ""
    been: str = ""
    after: str = ""
    act: str = ""
    any_base: str = ""
    any_been: str = ""
    any_act: str = ""
    asked: str = ""
    had: str = "had"
    past: str = "had"
    do: str = "have"


FRAMES: Mapping[str, Frame] = MappingProxyType(
    {
        "diagnosis": Frame(
            did="was diagnosed with {x}|received a diagnosis of {x}|got a {x} diagnosis",
            were="were diagnosed with {x}|were diagnosed with {x}|received a diagnosis of {x}|had a diagnosis of {x}",
            base="get diagnosed with {x}|receive a diagnosis of {x}|have a {x} diagnosis|get a {x} diagnosis",
            been="been diagnosed with {x}|received a diagnosis of {x}|had a {x} diagnosis|gotten a {x} diagnosis",
            after="being diagnosed with {x}|[having been|they were] diagnosed with {x}|[a|the] diagnosis of {x}"
            "|receiving a {x} diagnosis",
            act="{x} diagnosis|diagnosis of {x}",
            any_base="receive [any|a] diagnosis|get diagnosed with [anything|any disease]|have any diagnos[is|es]",
            any_been="been diagnosed with [anything|any disease|any condition]|received [any|a] diagnosis"
            "|been given [any|a] diagnosis",
            any_act="diagnosis",
            had="received",
            past="[received|was given|had]",
            do="receive",
            one="diagnosis",
            many="diagnoses|diseases|conditions",
            asked="recorded",
        ),
        "procedure": Frame(
            did="underwent {x}|received {x}|had a {x} procedure|was treated with {x}",
            were="underwent {x}|received {x}|had {x}|had a {x} procedure|were treated with {x}|went through {x}",
            base="undergo {x}|receive {x}|have a {x} procedure|get {x}|receive a {x} treatment",
            been="undergone {x}|received {x}|had a {x} procedure|been treated with {x}|gone through {x}",
            after="undergoing {x}|receiving {x}|having [had|received|undergone] {x}|they [had|received|underwent] {x}"
            "|[a|the] {x} procedure|[having|receiving] a {x} procedure",
            act="{x} procedure|{x} treatment|procedure of {x}",
            any_base="undergo any procedure|receive [any|a] procedure|have [any|a] procedure|get any treatment",
            any_been="undergone any procedure|received [any|a] procedure|had [any|a] procedure|gone through any procedure",
            any_act="procedure|treatment",
            had="undergone",
            past="[received|underwent|had]",
            do="undergo",
            one="procedure|treatment",
            many="procedures|treatments",
            asked="performed|given|conducted",
        ),
        "drug": Frame(
            did="was prescribed {x}|was prescribed with {x}|was ordered {x}|got a prescription for {x}",
            were="were prescribed {x}|were prescribed the drug {x}|had a {x} prescription|received a prescription for {x}",
            base="get prescribed {x}|receive a prescription for {x}|have a {x} prescription|get a {x} prescription",
            been="been prescribed {x}|been prescribed with {x}|been ordered {x}|received a prescription for {x}"
            "|had a {x} prescription",
            after="being prescribed {x}|[having been|they were] prescribed {x}|a {x} prescription"
            "|[getting|receiving] a prescription for {x}",
            act="{x} prescription|prescription of {x}|prescription for {x}",
            any_base="get [any|a] prescription|have any prescriptions|get prescribed any [drug|medication|medicine]",
            any_been="been prescribed any [drug|drugs|medication|medicine]|had any [prescriptions|medication prescribed]"
            "|received any prescription",
            any_act="prescription",
            had="been prescribed",
            past="was prescribed",
            do="get prescribed",
            one="drug|medication|medicine",
            many="drugs|medications|medicines",
            asked="prescribed|ordered",
        ),
        "lab": Frame(
            did="had a {x} [lab|laboratory] test|received a {x} [lab|laboratory] test|was tested for {x}|got a {x} lab test",
            were="had a {x} lab test|received a {x} [lab|laboratory] test|were tested for {x}|underwent a {x} lab test",
            base="have a {x} [lab|laboratory] test|receive a {x} lab test|get the {x} lab test|undergo a {x} lab test",
            been="had a {x} lab test|received a {x} [lab|laboratory] test|been tested for {x}|undergone a {x} lab test"
            "|got a {x} lab test|been given a {x} lab test",
            after="having [had|received] a {x} lab test|receiving a {x} [lab|laboratory] test|[a|the] {x} lab test",
            act="{x} [lab|laboratory] test|lab test [of|for] {x}",
            any_base="[have|get|receive|undergo] [any|a] [lab|laboratory] test|have any lab tests",
            any_been="[had|received|undergone] [any|a] [lab|laboratory] test|been given any lab test"
            "|had any lab tests [done|]",
            any_act="[lab|laboratory] test",
            had="received",
            past="[received|had|was given]",
            one="[lab|laboratory] test",
            many="lab tests|laboratory tests",
            asked="ordered|performed|conducted|given",
        ),
        "specimen": Frame(
            did="had a {x} microbiology test|received a {x} microbiology test|got a microbiology test of {x}",
            were="had a {x} microbiology test|received a {x} microbiology test|underwent a microbiology test of {x}",
            base="have a {x} microbiology test|receive a {x} microbiology test|get a {x} microbiology test",
            been="had a {x} microbiology test|received a {x} microbiology test|undergone a {x} microbiology test",
            after="having a {x} microbiology test|receiving a {x} microbiology test|a {x} microbiology test",
            act="{x} microbiology test|{x} microbiological test|microbiology test of {x}",
            any_base="[have|get|receive|take] [any|a] microbiology test",
            any_been="[had|received|undergone|taken] [any|a] microbiology test|had any microbiology tests [done|]",
            any_act="microbiology test|microbiological test",
            past="[received|had|was given]",
            one="specimen|specimen test|tested specimen",
            many="specimens|specimen tests",
            asked="taken|tested",
        ),
        "culture": Frame(
            had="received",
            past="[received|had|was given]",
            one="microbiology test",
            many="microbiology tests",
            asked="ordered|performed|conducted",
        ),
        "organism": Frame(
            one="organism",
            many="organisms",
            asked="found|detected",
        ),
        "careunit": Frame(
            did="stayed in careunit {x}|stayed in the careunit {x}|was in careunit {x}|visited careunit {x}",
            were="stayed in careunit {x}|stayed in {x}|were in careunit {x}|were in the {x}|stayed in the careunit {x}",
            base="stay in careunit {x}|stay in the careunit {x}|visit careunit {x}|get transferred to careunit {x}",
            been="stayed in careunit {x}|been in careunit {x}|visited careunit {x}|been transferred to careunit {x}",
            after="having stayed in careunit {x}|staying in careunit {x}|a stay in careunit {x}",
            act="stay in careunit {x}|stay in the careunit {x}|transfer to careunit {x}",
            had="stayed in",
            past="[stayed in|visited|was in]",
            do="stay in",
            one="careunit|care unit",
            many="careunits|care units",
            asked="visited|used",
        ),
        "input": Frame(
            did="received a {x} input|had an input of {x}|had a {x} intake|had a {x} input",
            were="received a {x} input|had an input of {x}|had a {x} input",
            base="have an input of {x}|receive a {x} input|get a {x} intake|have a {x} input",
            been="had an input of {x}|received a {x} input|been given an input of {x}|had a {x} intake",
            after="receiving a {x} input|having an input of {x}|a {x} input|an input of {x}",
            act="{x} input|input of {x}|intake of {x}|{x} intake",
            any_base="[have|receive|get] [any|an] [input|intake]",
            any_been="[had|received|been given] [any|an] [input|intake]",
            any_act="input|intake",
            had="received",
            past="[received|had|was given]",
            one="input|intake",
            many="inputs|intakes|input events|intake events",
        ),
        "output": Frame(
            did="had a {x} output|had an output of {x}",
            were="had a {x} output|had an output of {x}",
            base="have a {x} output|have an output of {x}",
            been="had a {x} output|had an output of {x}|had any {x} output",
            after="having a {x} output|a {x} output|an output of {x}",
            act="{x} output|output of {x}",
            any_base="have [any|an] output",
            any_been="had [any|an] output",
            any_act="output",
            one="output",
            many="outputs|output events|output occurrences",
        ),
    }
)
"""The frames by kind. Cultures and organisms are only asked for, never told."""
