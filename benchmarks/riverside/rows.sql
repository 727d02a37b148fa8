-- Riverside's rows: every patient, price and reading is made up. Arithmetic in place of chance, so that they are always the same.

INSERT INTO insurers VALUES
  (1, 'Northern Health Fund', 'public'), (2, 'Harbour Mutual', 'public'), (3, 'Alder Private Care', 'private'), (4, 'Medistar', 'private');

INSERT INTO wards VALUES
  (1, 'Internal Medicine', 2, 40), (2, 'Surgery', 3, 32), (3, 'Cardiology', 4, 24), (4, 'Maternity', 1, 18),
  (5, 'Neurology', 4, 16), (6, 'Intensive Care', 3, 10), (7, 'Paediatrics', 1, 20);

INSERT INTO diseases VALUES
  ('I10', 'hypertension', 'circulatory'), ('I21', 'heart attack', 'circulatory'), ('I63', 'stroke', 'circulatory'),
  ('I50', 'heart failure', 'circulatory'), ('E11', 'type 2 diabetes', 'endocrine'), ('J18', 'pneumonia', 'respiratory'),
  ('J45', 'asthma', 'respiratory'), ('K35', 'appendicitis', 'digestive'), ('K80', 'gallstones', 'digestive'),
  ('S72', 'hip fracture', 'injury'), ('N39', 'urinary tract infection', 'genitourinary'), ('O80', 'normal delivery', 'pregnancy'),
  ('G40', 'epilepsy', 'nervous system'), ('A41', 'sepsis', 'infectious');

INSERT INTO procedures VALUES
  (1, 'appendectomy', 2400), (2, 'gallbladder removal', 3100), (3, 'hip replacement', 8900), (4, 'coronary bypass', 21500),
  (5, 'caesarean section', 4200), (6, 'pacemaker implantation', 9800), (7, 'hernia repair', 2100);

INSERT INTO drugs VALUES
  (1, 'amoxicillin', 'capsule', 0.4), (2, 'metformin', 'tablet', 0.1), (3, 'aspirin', 'tablet', 0.05), (4, 'heparin', 'injection', 6.5),
  (5, 'salbutamol', 'inhaler', 4.2), (6, 'morphine', 'injection', 3.8), (7, 'lisinopril', 'tablet', 0.2), (8, 'insulin glargine', 'injection', 11.0),
  (9, 'paracetamol', 'tablet', 0.05), (10, 'levetiracetam', 'tablet', 0.9);

INSERT INTO lab_tests VALUES
  (1, 'potassium', 'mmol/L', 3.5, 5.1), (2, 'creatinine', 'mg/dL', 0.6, 1.3), (3, 'haemoglobin', 'g/dL', 12, 17.5),
  (4, 'glucose', 'mg/dL', 70, 110), (5, 'sodium', 'mmol/L', 135, 145), (6, 'C-reactive protein', 'mg/L', 0, 5);

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24),
  first (k, f) AS (VALUES (0, 'Clara'), (1, 'Hugo'), (2, 'Nadia'), (3, 'Pavel'), (4, 'Irene'), (5, 'Marcus')),
  last (k, l) AS (VALUES (0, 'Brandt'), (1, 'Okafor'), (2, 'Lindqvist'), (3, 'Moreau'), (4, 'Tanaka'), (5, 'Walsh'), (6, 'Ferrari')),
  skill (k, s) AS (VALUES (1, 'internist'), (2, 'surgeon'), (3, 'cardiologist'), (4, 'obstetrician'), (5, 'neurologist'), (6, 'anaesthetist'), (0, 'paediatrician'))
INSERT INTO doctors
SELECT i, f, l, s, CASE WHEN i % 7 = 0 THEN 7 ELSE i % 7 END, DATE('2005-02-01', (i * 7919 % 104729 % 6400) || ' days')
FROM n JOIN first ON first.k = i * 5 % 6 JOIN last ON last.k = (i * 3 + i / 7) % 7 JOIN skill ON skill.k = i % 7;

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300),
  woman (k, f) AS (VALUES (0, 'Anna'), (1, 'Beatriz'), (2, 'Chloe'), (3, 'Dina'), (4, 'Eva'), (5, 'Farah'), (6, 'Grace')),
  man (k, m) AS (VALUES (0, 'Adam'), (1, 'Boris'), (2, 'Carlos'), (3, 'David'), (4, 'Emil'), (5, 'Felix'), (6, 'George')),
  last (k, l) AS (VALUES (0, 'Novak'), (1, 'Hughes'), (2, 'Silva'), (3, 'Keller'), (4, 'Rossi'), (5, 'Ahmed'), (6, 'Larsen'), (7, 'Petrov'), (8, 'Dubois'), (9, 'Murphy'), (10, 'Kim')),
  town (k, c) AS (VALUES (0, 'Riverside'), (1, 'Oakham'), (2, 'Milford'), (3, 'Riverside'), (4, 'Easton')),
  blood (k, b) AS (VALUES (0, 'A+'), (1, '0+'), (2, 'B+'), (3, '0-'), (4, 'A+'), (5, 'AB-'))
INSERT INTO patients
SELECT i, CASE WHEN i * 7 % 13 < 7 THEN f ELSE m END, l, CASE WHEN i * 7 % 13 < 7 THEN 'F' ELSE 'M' END,
  DATE('1930-03-05', (i * 7919 % 104729 % 33000) || ' days'), c, b, CASE WHEN i % 9 = 0 THEN NULL ELSE 1 + i * 7919 % 104729 % 11 % 4 END
FROM n JOIN woman ON woman.k = i % 7 JOIN man ON man.k = i % 7 JOIN last ON last.k = i * 3 % 11 JOIN town ON town.k = i * 2 % 5 JOIN blood ON blood.k = i % 6;

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900),
  why (k, r) AS (VALUES (0, 'check-up'), (1, 'back pain'), (2, 'cough'), (3, 'follow-up'), (4, 'headache'))
INSERT INTO appointments
SELECT i, 1 + i * 7919 % 104729 % 300, 1 + i * 104723 % 7907 % 24, DATETIME('2022-01-03 08:00:00', (i * 29 % 1090) || ' days', (i % 17 * 30) || ' minutes'),
  CASE WHEN i % 8 = 0 THEN 'cancelled' WHEN i % 13 = 0 THEN 'missed' ELSE 'kept' END, r
FROM n JOIN why ON why.k = i * 3 % 5;

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450)
INSERT INTO stays
SELECT i, 1 + i * 7919 % 104729 % 290, ward, 7 * (i % 3) + ward,  came, CASE WHEN DATE(came, days) <= '2024-12-31' THEN DATE(came, days) END,
  CASE WHEN DATE(came, days) > '2024-12-31' THEN NULL WHEN i % 31 = 0 THEN 'died' WHEN i % 11 = 0 THEN 'nursing home' WHEN i % 17 = 0 THEN 'other hospital' ELSE 'home' END
FROM (SELECT i, 1 + i * 7907 % 10007 % 7 AS ward, DATE('2022-01-05', (i * 7919 % 9973 % 1091) || ' days') AS came, (1 + i * 7901 % 9967 % 19) || ' days' AS days FROM n);

INSERT INTO diagnoses
SELECT stay_id, code, 1 FROM stays JOIN (SELECT ROW_NUMBER() OVER (ORDER BY code) - 1 AS k, code FROM diseases) ON k = stay_id * 7919 % 104729 % 14
UNION
SELECT stay_id, code, 0 FROM stays JOIN (SELECT ROW_NUMBER() OVER (ORDER BY code) - 1 AS k, code FROM diseases) ON k = (stay_id * 7919 % 104729 + 1 + stay_id % 9) % 14 WHERE stay_id % 3 > 0;

INSERT INTO operations
SELECT ROW_NUMBER() OVER (ORDER BY stay_id), stay_id, 1 + stay_id * 7919 % 104729 % 7, CASE stay_id % 3 WHEN 0 THEN 2 WHEN 1 THEN 9 ELSE 16 END, DATE(admitted_on, '1 days'), 35 + stay_id * 23 % 260
FROM stays WHERE stay_id % 4 = 1 OR ward_id = 2;

INSERT INTO prescriptions
SELECT ROW_NUMBER() OVER (ORDER BY stay_id, k), stay_id, 1 + (stay_id * 7919 % 104729 + k * 4) % 10, (1 + (stay_id + k) % 8) * 62.5, 1 + stay_id % 3, admitted_on, DATE(admitted_on, (2 + stay_id % 9) || ' days')
FROM stays JOIN (SELECT 0 AS k UNION ALL SELECT 1 UNION ALL SELECT 2) ON k <= stay_id % 3;

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1800)
INSERT INTO lab_results
SELECT i, 1 + i * 7919 % 104729 % 95, test_id, DATETIME('2022-01-06 06:30:00', (i * 13 % 1090) || ' days'), ROUND(MAX(0.2, low + (high - low) * ((i * 7919 % 1000) / 620.0 - 0.25)), 1)
FROM n JOIN lab_tests ON test_id = 1 + i % 6;

INSERT INTO allergies
SELECT patient_id, s, CASE patient_id % 3 WHEN 0 THEN 'mild' WHEN 1 THEN 'moderate' ELSE 'severe' END
FROM patients JOIN (SELECT 0 AS k, 'penicillin' AS s UNION ALL SELECT 1, 'latex' UNION ALL SELECT 2, 'peanuts' UNION ALL SELECT 3, 'iodine') ON patient_id * 7 % 10 = k OR patient_id % 23 = k + 9;

INSERT INTO vaccinations
SELECT patient_id, v, DATE('2021-09-01', (patient_id * 17 % 1100) || ' days')
FROM patients JOIN (SELECT 0 AS k, 'influenza' AS v UNION ALL SELECT 1, 'COVID-19' UNION ALL SELECT 2, 'tetanus' UNION ALL SELECT 3, 'hepatitis B') ON patient_id % 4 <> k AND patient_id % 5 <> 4;

INSERT INTO invoices
SELECT stay_id, stay_id, DATE(discharged_on, '6 days'), 380.0 * (JULIANDAY(discharged_on) - JULIANDAY(admitted_on)) + 45 * (stay_id % 11), CASE WHEN stay_id % 6 > 0 THEN DATE(discharged_on, (10 + stay_id % 40) || ' days') END
FROM stays WHERE discharged_on IS NOT NULL;
