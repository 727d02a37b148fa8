"""Names of columns of schemas that are kept for reporting: what is made keeps clear of them, so that these stay unseen.

The lists say which names to avoid, and nothing else of those data sets; `tests/synthesis/designs/test_reported.py` compares
them with the sets themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fastsql.profile.english import word_set
from fastsql.schema.keys import plain_name

SYNTHEA = word_set(
    """
    address adjustments amount amountcovered amountuncovered appointmentid basecost baseencountercost birthdate
    birthplace bodysitecode bodysitedescription category chargeid city claimid code county coveredcosts
    coveredencounters coveredimmunizations coveredmedications coveredprocedures currentillnessdate date
    deathdate departmentid description description1 description2 diagnosis1 diagnosis2 diagnosis3 diagnosis4
    diagnosis5 diagnosis6 diagnosis7 diagnosis8 diagnosisref1 diagnosisref2 diagnosisref3 diagnosisref4
    dispenses drivers encounter encounterclass encounters enddate ethnicity feescheduleid fips first fromdate
    gender healthcareclaimtypeid1 healthcareclaimtypeid2 healthcarecoverage healthcareexpenses id income
    instanceuid insurancecosts last lastbilleddate1 lastbilleddate2 lastbilleddatep lat linenote lon maiden
    marital memberid membermonths method modalitycode modalitydescription modifier1 modifier2 name notes
    organization outstanding outstanding1 outstanding2 outstandingp ownername ownership passport patient
    patientdepartmentid patientid patientinsuranceid payer payercoverage payerid payments phone placeofservice
    planownership prefix primarypatientinsuranceid procedurecode procedures provider providerid qolsavg quantity
    race reaction1 reaction2 reasoncode reasondescription referringproviderid revenue
    secondarypatientinsuranceid secondarypayer seriesuid servicedate severity1 severity2 sopcode sopdescription
    speciality ssn start startdate state stateheadquartered status1 status2 statusp stop suffix
    supervisingproviderid system todate totalclaimcost totalcost transferoutid transfers transfertype type udi
    uncoveredencounters uncoveredimmunizations uncoveredmedications uncoveredprocedures uniquecustomers
    unitamount units utilization value year zip
    """
)
KAGGLEDBQA = word_set(
    """
    allstudents annotate artist averagescalescore awardid awayclosing awayopening awayteam b365a b365d b365h
    ballots birthcity birthcountry birthday birthmonth birthstate birthyear bwa bwd bwh c14 c25 capacity
    category claim commod commtype competion concen confmethod confmethod2 constructionstartat contdate contdoy
    conttime conunit country county crimeid crimets datetime day deathcity deathcountry deathday deathmonth
    deathstate deathyear determin discoverydate discoverydoy discoverytime distst disttype div drawclosing
    drawopening extract fipscode fipsname firesize firesizeclass fireyear ftag fthg ftr groupid groupname
    groupyear growst homeclosing homeopening hometeam htag hthg htr id idcensus index inducted lab lastupdatedat
    latitude lba lbd lbh league leagueid location lod longitude lsoa match mean month name namefirst namegiven
    namelast ncesid needed needednote notes operationalfrom operationalto origin outcome ownercode ownerdescr
    packst pestcode playerid pointsmax pointswon psa psd psh quantitate quantity reactormodel reactortype
    records referee releasetype salary samplepk schooldistrict season site source sourceid statcausecode
    statcausedescr state statecode status tag teamid testclass tfedrev tie totalsnatched type variety votedby
    votes votesfirst weight year yearid yrdata
    """
)
CHINESE_CLINIC = word_set(
    """
    主诉 入职日期 出生日期 医保类型 单位 名称 城市 处方号 姓名 就诊号 就诊时间 工号 性别 是否慢性 检验号
    楼层 每次剂量 用药天数 疾病名称 病历号 科室编号 程度 类型 结果 职称 药品名称 诊断号 费用 过敏原 采样时间
    项目
    """
)

_SAME, _TELLING = 0.6, 8
"""The share of names from which on two schemas are one, and how many names that takes."""


def overlap(names: Iterable[str]) -> tuple[float, ...]:
    """The shares of names, letters and digits alone, each counted once, that each set has."""
    own = {plain_name(name) for name in names}
    return tuple(len(own & kept) / len(own) for kept in (SYNTHEA, KAGGLEDBQA, CHINESE_CLINIC))


def is_reported(names: Collection[str]) -> bool:
    """Whether these are the columns of a schema that is reported on, as BIRD has of Synthea's.

    A few plain names, such as those of a small table, tell nothing.
    """
    return len({plain_name(name) for name in names}) >= _TELLING and max(overlap(names)) >= _SAME
