-- Riverside, a hospital that is made up: a schema as a small hospital's administration would lay it out. Nothing is trained on it.

CREATE TABLE insurers (
  insurer_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL  -- public, private
);

CREATE TABLE patients (
  patient_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  sex TEXT,  -- F, M
  birth_date DATE,
  city TEXT,
  blood_group TEXT,
  insurer_id INTEGER REFERENCES insurers (insurer_id)  -- NULL: pays for themselves
);

CREATE TABLE wards (
  ward_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  floor INTEGER,
  beds INTEGER
);

CREATE TABLE doctors (
  doctor_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  specialty TEXT,
  ward_id INTEGER REFERENCES wards (ward_id),
  hired_on DATE
);

CREATE TABLE appointments (
  appointment_id INTEGER PRIMARY KEY,
  patient_id INTEGER NOT NULL REFERENCES patients (patient_id),
  doctor_id INTEGER NOT NULL REFERENCES doctors (doctor_id),
  starts_at TIMESTAMP,
  status TEXT,  -- kept, cancelled, missed
  reason TEXT
);

CREATE TABLE stays (
  stay_id INTEGER PRIMARY KEY,
  patient_id INTEGER NOT NULL REFERENCES patients (patient_id),
  ward_id INTEGER NOT NULL REFERENCES wards (ward_id),
  attending_id INTEGER REFERENCES doctors (doctor_id),
  admitted_on DATE,
  discharged_on DATE,  -- NULL: still here
  discharged_to TEXT  -- home, nursing home, other hospital, died
);

CREATE TABLE diseases (
  code TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  chapter TEXT
);

CREATE TABLE diagnoses (
  stay_id INTEGER NOT NULL REFERENCES stays (stay_id),
  code TEXT NOT NULL REFERENCES diseases (code),
  main INTEGER,  -- 1: the reason for the stay
  PRIMARY KEY (stay_id, code)
);

CREATE TABLE procedures (
  procedure_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  price REAL
);

CREATE TABLE operations (
  operation_id INTEGER PRIMARY KEY,
  stay_id INTEGER NOT NULL REFERENCES stays (stay_id),
  procedure_id INTEGER NOT NULL REFERENCES procedures (procedure_id),
  surgeon_id INTEGER REFERENCES doctors (doctor_id),
  operated_on DATE,
  minutes INTEGER
);

CREATE TABLE drugs (
  drug_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  form TEXT,
  unit_price REAL
);

CREATE TABLE prescriptions (
  prescription_id INTEGER PRIMARY KEY,
  stay_id INTEGER NOT NULL REFERENCES stays (stay_id),
  drug_id INTEGER NOT NULL REFERENCES drugs (drug_id),
  dose_mg REAL,
  times_a_day INTEGER,
  started_on DATE,
  ended_on DATE
);

CREATE TABLE lab_tests (
  test_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  unit TEXT,
  low REAL,
  high REAL
);

CREATE TABLE lab_results (
  result_id INTEGER PRIMARY KEY,
  patient_id INTEGER NOT NULL REFERENCES patients (patient_id),
  test_id INTEGER NOT NULL REFERENCES lab_tests (test_id),
  taken_at TIMESTAMP,
  value REAL
);

CREATE TABLE allergies (
  patient_id INTEGER NOT NULL REFERENCES patients (patient_id),
  substance TEXT NOT NULL,
  severity TEXT,  -- mild, moderate, severe
  PRIMARY KEY (patient_id, substance)
);

CREATE TABLE vaccinations (
  patient_id INTEGER NOT NULL REFERENCES patients (patient_id),
  vaccine TEXT NOT NULL,
  given_on DATE,
  PRIMARY KEY (patient_id, vaccine, given_on)
);

CREATE TABLE invoices (
  invoice_id INTEGER PRIMARY KEY,
  stay_id INTEGER NOT NULL REFERENCES stays (stay_id),
  issued_on DATE,
  total REAL,
  paid_on DATE  -- NULL: open
);
