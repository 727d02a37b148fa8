CREATE TABLE insurers (insurer_id INTEGER PRIMARY KEY, name TEXT, kind TEXT);
CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, sex TEXT, birth_date DATE, city TEXT,
    insurer_id INTEGER REFERENCES insurers (insurer_id)
);
CREATE TABLE doctors (doctor_id INTEGER PRIMARY KEY, full_name TEXT, specialty TEXT, hired_on DATE);
CREATE TABLE rooms (room_id INTEGER PRIMARY KEY, label TEXT, floor INTEGER);
CREATE TABLE appointments (
    appointment_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients (patient_id),
    doctor_id INTEGER REFERENCES doctors (doctor_id), room_id INTEGER REFERENCES rooms (room_id),
    starts_at TIMESTAMP, status TEXT, reason TEXT
);
CREATE TABLE conditions (code TEXT PRIMARY KEY, description TEXT, chronic INTEGER);
CREATE TABLE diagnoses (
    diagnosis_id INTEGER PRIMARY KEY, appointment_id INTEGER REFERENCES appointments (appointment_id),
    code TEXT REFERENCES conditions (code)
);
CREATE TABLE prescriptions (
    prescription_id INTEGER PRIMARY KEY, appointment_id INTEGER REFERENCES appointments (appointment_id),
    medicine TEXT, dose_mg REAL, days INTEGER
);
CREATE TABLE lab_tests (
    test_id INTEGER PRIMARY KEY, appointment_id INTEGER REFERENCES appointments (appointment_id), analyte TEXT,
    value REAL, unit TEXT, taken_at TIMESTAMP
);
CREATE TABLE vaccinations (
    vaccination_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients (patient_id), vaccine TEXT, given_on DATE
);
CREATE TABLE invoices (
    invoice_id INTEGER PRIMARY KEY, appointment_id INTEGER REFERENCES appointments (appointment_id), amount REAL,
    issued_on DATE, paid TEXT
);
CREATE TABLE allergies (
    patient_id INTEGER REFERENCES patients (patient_id), substance TEXT, severity TEXT,
    PRIMARY KEY (patient_id, substance)
);
