"""The tables of the demo hospital: names and columns of MIMIC-IV as the EHRSQL 2024 task cuts it, nothing of its rows."""

from __future__ import annotations

REFERENCE = ("d_icd_diagnoses", "d_icd_procedures", "d_items", "d_labitems")
"""The tables that are terminologies."""

HOSPITAL_DDL = """
CREATE TABLE patients (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL UNIQUE, gender VARCHAR(255),
    dob TIMESTAMP(0), dod TIMESTAMP(0)
);
CREATE TABLE admissions (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL UNIQUE,
    admittime TIMESTAMP(0), dischtime TIMESTAMP(0), admission_type VARCHAR(255),
    admission_location VARCHAR(255), discharge_location VARCHAR(255), insurance VARCHAR(255),
    language VARCHAR(255), marital_status VARCHAR(255), age INT NOT NULL,
    FOREIGN KEY (subject_id) REFERENCES patients (subject_id)
);
CREATE TABLE d_icd_diagnoses (
    row_id INT NOT NULL PRIMARY KEY, icd_code VARCHAR(10) NOT NULL UNIQUE,
    long_title VARCHAR(255)
);
CREATE TABLE d_icd_procedures (
    row_id INT NOT NULL PRIMARY KEY, icd_code VARCHAR(10) NOT NULL UNIQUE,
    long_title VARCHAR(255)
);
CREATE TABLE d_labitems (
    row_id INT NOT NULL PRIMARY KEY, itemid INT NOT NULL UNIQUE, label VARCHAR(255)
);
CREATE TABLE d_items (
    row_id INT NOT NULL PRIMARY KEY, itemid INT NOT NULL UNIQUE, label VARCHAR(255),
    abbreviation VARCHAR(255), linksto VARCHAR(255)
);
CREATE TABLE diagnoses_icd (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    icd_code VARCHAR(10) NOT NULL, charttime TIMESTAMP(0),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id),
    FOREIGN KEY (icd_code) REFERENCES d_icd_diagnoses (icd_code)
);
CREATE TABLE procedures_icd (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    icd_code VARCHAR(10) NOT NULL, charttime TIMESTAMP(0),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id),
    FOREIGN KEY (icd_code) REFERENCES d_icd_procedures (icd_code)
);
CREATE TABLE labevents (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    itemid INT NOT NULL, charttime TIMESTAMP(0), valuenum DOUBLE PRECISION,
    valueuom VARCHAR(255),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id),
    FOREIGN KEY (itemid) REFERENCES d_labitems (itemid)
);
CREATE TABLE prescriptions (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    starttime TIMESTAMP(0), stoptime TIMESTAMP(0), drug VARCHAR(255),
    dose_val_rx VARCHAR(255), dose_unit_rx VARCHAR(255), route VARCHAR(255),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id)
);
CREATE TABLE cost (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    event_type VARCHAR(255), event_id INT NOT NULL, chargetime TIMESTAMP(0),
    cost DOUBLE PRECISION,
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id),
    FOREIGN KEY (event_id) REFERENCES diagnoses_icd (row_id),
    FOREIGN KEY (event_id) REFERENCES procedures_icd (row_id),
    FOREIGN KEY (event_id) REFERENCES labevents (row_id),
    FOREIGN KEY (event_id) REFERENCES prescriptions (row_id)
);
CREATE TABLE chartevents (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    stay_id INT NOT NULL, itemid INT NOT NULL, charttime TIMESTAMP(0),
    valuenum DOUBLE PRECISION, valueuom VARCHAR(255),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id),
    FOREIGN KEY (stay_id) REFERENCES icustays (stay_id),
    FOREIGN KEY (itemid) REFERENCES d_items (itemid)
);
CREATE TABLE inputevents (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    stay_id INT NOT NULL, starttime TIMESTAMP(0), itemid INT NOT NULL,
    totalamount DOUBLE PRECISION, totalamountuom VARCHAR(255),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id),
    FOREIGN KEY (stay_id) REFERENCES icustays (stay_id),
    FOREIGN KEY (itemid) REFERENCES d_items (itemid)
);
CREATE TABLE outputevents (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    stay_id INT NOT NULL, charttime TIMESTAMP(0), itemid INT NOT NULL,
    value DOUBLE PRECISION, valueuom VARCHAR(255),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id),
    FOREIGN KEY (stay_id) REFERENCES icustays (stay_id),
    FOREIGN KEY (itemid) REFERENCES d_items (itemid)
);
CREATE TABLE microbiologyevents (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    charttime TIMESTAMP(0), spec_type_desc VARCHAR(255), test_name VARCHAR(255),
    org_name VARCHAR(255),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id)
);
CREATE TABLE icustays (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    stay_id INT NOT NULL UNIQUE, first_careunit VARCHAR(255), last_careunit VARCHAR(255),
    intime TIMESTAMP(0), outtime TIMESTAMP(0),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id)
);
CREATE TABLE transfers (
    row_id INT NOT NULL PRIMARY KEY, subject_id INT NOT NULL, hadm_id INT NOT NULL,
    transfer_id INT NOT NULL, eventtype VARCHAR(255), careunit VARCHAR(255),
    intime TIMESTAMP(0), outtime TIMESTAMP(0),
    FOREIGN KEY (hadm_id) REFERENCES admissions (hadm_id)
);
"""
