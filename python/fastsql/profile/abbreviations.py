"""Abbreviations that names of tables and columns are made of, and what they stand for.

One line a few entries, `short=long words`. What stands for two things often is left out, or stands where the schema or the
place in the name decides.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from fastsql.profile.english import word_set


def _entries(text: str) -> MappingProxyType[str, str]:
    lines = (entry.partition("=") for line in text.splitlines() for entry in line.split(";"))
    return MappingProxyType({short.strip(): long.strip() for short, _, long in lines if long})


GENERAL: Final = _entries("""
    abbr=abbreviation; abbrev=abbreviation; acct=account; accts=accounts; actl=actual; addl=additional
    addr=address; adj=adjusted; adm=administration; agcy=agency; agmt=agreement; agr=agreement; amt=amount
    amts=amounts; appl=application; approx=approximate; appt=appointment; apt=apartment; arr=arrival
    assoc=association; attn=attention; attr=attribute; aux=auxiliary; avail=available; avg=average
    bal=balance; bgn=begin; bldg=building; calc=calculated; cat=category; categ=category; catg=category
    cd=code; cert=certificate; chg=change; chk=check; cls=class; cmpl=complete; cmt=comment; cmts=comments
    cnt=count; cntct=contact; cntr=center; cntry=country; cnty=county; cond=condition; config=configuration
    coord=coordinate; coords=coordinates; corp=corporation; crs=course; ctgry=category; ctrl=control
    ctry=country; cty=county; cur=current; curr=current; cust=customer; deg=degrees; dep=departure
    depr=depreciation; dept=department; depts=departments; desc=description; descr=description
    dest=destination; det=detail; diam=diameter; diff=difference; dir=direction; distr=district
    div=division; dob=date of birth; doc=document; docs=documents; dod=date of death; dpt=department
    dscr=description; dt=date; dtime=date time; dtl=detail; dtls=details; dtm=date time; dttm=date time
    dur=duration; dwg=drawing; educ=education; eff=effective; elec=electronic; elev=elevation; emp=employee
    emps=employees; engr=engineer; env=environment; eqp=equipment; equip=equipment; err=error
    est=estimated; estab=establishment; evt=event; exch=exchange; expt=experiment; ext=extension
    fac=facility; facil=facility; fam=family; fcst=forecast; flg=flag; fname=first name; freq=frequency
    gend=gender; gov=government; govt=government; grp=group; grps=groups; hdr=header; hgt=height
    hist=history; hosp=hospital; hrs=hours; ht=height; ident=identifier; idx=index; img=image
    incr=increment; ind=indicator; indic=indicator; indiv=individual; info=information; init=initial
    inits=initials; insp=inspection; inst=institution; instr=instruction; intl=international
    inves=investigation; invest=investigation; jrnl=journal; kwd=keyword; lang=language; lat=latitude
    len=length; lic=license; lname=last name; lng=longitude; loc=location; locn=location; locs=locations
    lon=longitude; lst=list; lvl=level; maint=maintenance; manuf=manufacturer; max=maximum; mbr=member
    mdl=model; meas=measurement; memb=member; mfg=manufacturing; mfr=manufacturer; mgmt=management
    mgr=manager; min=minimum; misc=miscellaneous; mkt=market; mname=middle name; mnfr=manufacturer
    mnth=month; msg=message; msr=measure; mstr=master; mtg=meeting; mth=month; mths=months; mult=multiple
    nat=national; natl=national; nbr=number; neg=negative; nm=name; nme=name; nr=number; num=number
    nums=numbers; obj=object; obs=observation; occup=occupation; ops=operations; opt=option; ord=order
    org=organization; orig=original; pct=percent; perc=percent; perf=performance; perm=permanent
    pers=person; ph=phone; phn=phone; phys=physical; pkg=package; pmt=payment; pnt=point; pop=population
    pos=position; posn=position; prc=price; precip=precipitation; pref=preferred; prelim=preliminary
    prev=previous; pri=primary; prim=primary; prob=probability; proc=process; prod=product; prog=program
    proj=project; prov=province; ptype=property type; publ=published; pymt=payment; qlty=quality
    qnty=quantity; qtr=quarter; qty=quantity; qual=quality; quant=quantity; rcpt=receipt; rcv=received
    rec=record; recd=received; recip=recipient; recs=records; ref=reference; refs=references; req=request
    reqd=required; rgn=region; rng=range; rpt=report; rqst=request; rte=route; rtn=return; sal=salary
    sched=schedule; sect=section; seg=segment; seq=sequence; ser=serial; sess=session; sgnt=signature
    spp=species; sqft=square feet; src=source; srvc=service; ssn=social security number; stats=statistics
    std=standard; stmt=statement; stn=station; strt=start; subj=subject; supp=supplement; suppl=supplement
    surv=survey; svc=service; sys=system; sz=size; tel=telephone; tele=telephone; temp=temperature
    ths=thousand; tm=time; tmp=temporary; tmstmp=timestamp; tot=total; trans=transaction; trn=transaction
    ttl=total; txn=transaction; txt=text; typ=type; univ=university; uom=unit of measure; upd=updated
    updt=updated; usr=user; util=utility; val=value; vals=values; var=variable; veg=vegetation; veh=vehicle
    vel=velocity; ver=version; vers=version; vis=visibility; vol=volume; wght=weight; whse=warehouse
    wk=week; wks=weeks; wnd=wind; wrk=work; wt=weight; wx=weather; xfer=transfer; xref=cross reference
    yr=year; yrs=years
    """)
"""In any schema."""

MEDICAL: Final = _entries("""
    abx=antibiotics; adm=admission; admdate=admission date; admit=admission; admsn=admission
    admt=admission; alb=albumin; alk=alkaline; allg=allergy; anes=anesthesia; appt=appointment
    attnd=attending; bg=blood glucose; bld=blood; bmi=body mass index; bp=blood pressure
    bun=blood urea nitrogen; chol=cholesterol; clin=clinic; clm=claim; comorb=comorbidity
    conc=concentration; cpt=procedure code; creat=creatinine; csn=encounter number; ctas=triage
    dbp=diastolic blood pressure; diag=diagnosis; diags=diagnoses; diastolicbp=diastolic blood pressure
    disch=discharge; dischg=discharge; disp=disposition; doa=date of admission; doc=doctor
    dod=date of death; dos=date of service; dsch=discharge; dschrg=discharge; dx=diagnosis; dxs=diagnoses
    enc=encounter; encntr=encounter; eth=ethnicity; fio2=fraction of inspired oxygen; fup=follow up
    gcs=glasgow coma scale; glu=glucose; gluc=glucose; gp=general practitioner; hadm=hospital admission
    hb=hemoglobin; hba1c=glycated hemoglobin; hct=hematocrit; hgb=hemoglobin; hr=heart rate
    htn=hypertension; hx=history; immun=immunization; immz=immunization; inj=injection; ins=insurance
    intub=intubation; inv=investigation; los=length of stay; mech=mechanical; med=medication
    medrec=medical record; meds=medications; micro=microbiology; microbio=microbiology
    mrn=medical record number; npi=national provider identifier; nurs=nursing; obs=observation
    onc=oncology; op=operation; opd=outpatient department; orth=orthopedics; pat=patient; pats=patients
    ped=pediatric; peds=pediatrics; phys=physician; pid=patient id; plt=platelets; prac=practitioner
    pres=prescription; presc=prescription; prescr=prescription; proc=procedure; procs=procedures
    prov=provider; provid=provider; psych=psychiatric; pt=patient; ptnt=patient; pts=patients
    rad=radiology; rbc=red blood cells; readm=readmission; ref=reference; refl=referral
    rr=respiratory rate; rx=prescription; rxs=prescriptions; sao2=oxygen saturation
    sbp=systolic blood pressure; sess=session; spec=specimen; specm=specimen; spo2=oxygen saturation
    surg=surgery; sx=symptom; symp=symptom; systolicbp=systolic blood pressure; therap=therapy
    trig=triglycerides; tx=treatment; vacc=vaccine; vax=vaccine; vit=vital; vits=vitals; vs=vital signs
    wbc=white blood cells; xr=x-ray
    """)
"""In a schema that speaks of patients; there these come before the general ones."""

CLINICAL_WORDS: Final = word_set(
    """
    patient patients admission admissions admit diagnosis diagnoses prescription prescriptions hospital
    icu ward encounter encounters clinic clinical medication medications drug drugs icd loinc snomed
    rxnorm physician physicians mrn hadm discharge nurse surgery allergy allergies immunization vital
    vitals dx rx specimen
    """
)
"""Two of these among a schema's names say that it speaks of patients."""

AT_END: Final = _entries("no=number; nos=numbers; dte=date; ds=description; pc=percent; ct=count; cy=county")
"""As the last word of a name only, and not alone."""

PREFIXES: Final = word_set(
    """
    tbl t tab tb dim fact fct vw view v xref x lu tlu lkp lkup ref dbo stg d usp rpt rel jct
    """
)
"""What stands before the names of tables and says nothing of what is in them. Left out only where an underscore or
capital ends it and a word of three letters or more follows."""

SPOKEN: Final = word_set(
    """
    api atc bmi cas cpr cpt csv dea dna drg ecg ekg faq gpa gtin guid hcpcs hiv html http icd icu iqr isbn
    iso json loinc lsoa mri ndc nhs npi pdf pin rna rxcui rxnorm snomed sql uri url usd utc utm uuid vat
    who xml
    """
)
"""Initials that people say as they are."""
