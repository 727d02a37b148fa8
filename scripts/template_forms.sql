-- Forms of queries that clinics ask and public training sets seldom have. `collect_templates.py` takes their templates.
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, name TEXT, kind TEXT, beds REAL, opened DATE);
CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY, name TEXT, sex TEXT, weight REAL, height REAL, born DATE,
    ward_id INTEGER REFERENCES wards(ward_id)
);
CREATE TABLE visits (
    visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(patient_id), reason TEXT, type TEXT,
    cost REAL, paid REAL, began DATETIME, ended DATETIME
);
-- queries
-- averages and extremes of what is reckoned for each group
SELECT AVG(T.c) FROM (SELECT COUNT(*) AS c FROM visits GROUP BY patient_id) T
SELECT MAX(T.c) FROM (SELECT COUNT(*) AS c FROM visits GROUP BY patient_id) T
SELECT AVG(T.c) FROM (SELECT SUM(cost) AS c FROM visits GROUP BY patient_id) T
SELECT AVG(T.c) FROM (SELECT COUNT(*) AS c FROM visits WHERE type = 'a' GROUP BY patient_id) T
-- the first row of each group
SELECT T.cost FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY began DESC) AS r FROM visits) T WHERE T.r = 1
SELECT T.patient_id, T.cost FROM (SELECT patient_id, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY began DESC) AS r FROM visits) T WHERE T.r = 1
SELECT T.patient_id, T.reason, T.began FROM (SELECT patient_id, reason, began, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY began ASC) AS r FROM visits) T WHERE T.r = 1
SELECT T.type, T.reason FROM (SELECT type, reason, ROW_NUMBER() OVER (PARTITION BY type ORDER BY cost DESC) AS r FROM visits) T WHERE T.r = 1
-- with those that have none
SELECT patients.name, COUNT(visits.visit_id) FROM patients LEFT JOIN visits ON patients.patient_id = visits.patient_id GROUP BY patients.patient_id
SELECT patients.patient_id, COUNT(visits.visit_id) FROM patients LEFT JOIN visits ON patients.patient_id = visits.patient_id GROUP BY patients.patient_id
SELECT patients.name, SUM(visits.cost) FROM patients LEFT JOIN visits ON patients.patient_id = visits.patient_id GROUP BY patients.patient_id
SELECT patients.name, COUNT(visits.visit_id) FROM patients LEFT JOIN visits ON patients.patient_id = visits.patient_id WHERE patients.sex = 'F' GROUP BY patients.patient_id
SELECT patients.name, visits.reason FROM patients LEFT JOIN visits ON patients.patient_id = visits.patient_id
SELECT patients.name FROM patients LEFT JOIN visits ON patients.patient_id = visits.patient_id WHERE visits.visit_id IS NULL
SELECT COUNT(*) FROM patients WHERE patients.patient_id NOT IN (SELECT visits.patient_id FROM visits)
SELECT COUNT(*) FROM patients WHERE patients.patient_id IN (SELECT visits.patient_id FROM visits WHERE visits.type = 'a')
SELECT name FROM patients WHERE patients.patient_id NOT IN (SELECT visits.patient_id FROM visits WHERE visits.cost > 61.5)
-- shares, differences and ratios
SELECT CAST(SUM(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM patients
SELECT CAST(SUM(CASE WHEN cost > 61.5 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM visits
SELECT CAST(SUM(CASE WHEN cost > 61.5 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM visits WHERE type = 'a'
SELECT type, CAST(SUM(CASE WHEN cost > 61.5 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM visits GROUP BY type
SELECT SUM(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) - SUM(CASE WHEN sex = 'M' THEN 1 ELSE 0 END) FROM patients
SELECT CAST(SUM(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS REAL) / SUM(CASE WHEN sex = 'M' THEN 1 ELSE 0 END) FROM patients
SELECT type, SUM(CASE WHEN cost > 61.5 THEN 1 ELSE 0 END) FROM visits GROUP BY type
SELECT cost - paid FROM visits WHERE type = 'a'
SELECT reason, cost - paid FROM visits
SELECT SUM(cost - paid) FROM visits
SELECT AVG(cost - paid) FROM visits WHERE type = 'a'
SELECT type, SUM(cost - paid) FROM visits GROUP BY type
SELECT reason FROM visits ORDER BY cost - paid DESC LIMIT 1
SELECT SUM(cost) - SUM(paid) FROM visits
SELECT MAX(cost) - MIN(cost) FROM visits
SELECT type, MAX(cost) - MIN(cost) FROM visits GROUP BY type
-- missing values, ranges and dates
SELECT reason FROM visits WHERE paid IS NULL
SELECT COUNT(*) FROM visits WHERE ended IS NULL
SELECT COUNT(*) FROM visits WHERE ended IS NOT NULL AND type = 'a'
SELECT COUNT(*) FROM visits WHERE cost BETWEEN 61.5 AND 70.5
SELECT COUNT(*) FROM visits WHERE strftime('%Y', began) = '2020'
SELECT AVG(cost) FROM visits WHERE strftime('%Y', began) = '2020'
SELECT reason FROM visits WHERE strftime('%Y-%m-%d', began) >= '2020-05-05'
SELECT COUNT(*) FROM visits WHERE strftime('%Y-%m', began) = '2020-05'
SELECT strftime('%Y', began), COUNT(*) FROM visits GROUP BY strftime('%Y', began)
SELECT strftime('%Y', began), SUM(cost) FROM visits GROUP BY strftime('%Y', began)
-- above the average, in a group, the last and the first
SELECT name FROM patients WHERE weight > (SELECT AVG(weight) FROM patients)
SELECT name FROM patients WHERE sex = 'F' AND weight > (SELECT AVG(weight) FROM patients WHERE sex = 'F')
SELECT reason FROM visits ORDER BY began DESC LIMIT 1
SELECT reason, cost FROM visits ORDER BY cost DESC LIMIT 5
SELECT type FROM visits GROUP BY type HAVING AVG(cost) > 5
SELECT type, COUNT(*), AVG(cost) FROM visits GROUP BY type
SELECT COUNT(*), AVG(cost), MAX(cost) FROM visits
SELECT reason FROM visits WHERE type IN ('a', 'b')
SELECT COUNT(*) FROM visits WHERE type = 'a' OR type = 'b'
SELECT COUNT(DISTINCT patient_id) FROM visits
SELECT COUNT(DISTINCT patient_id) FROM visits WHERE type = 'a'
SELECT COUNT(DISTINCT visits.patient_id) FROM visits JOIN patients ON visits.patient_id = patients.patient_id WHERE patients.sex = 'F'
SELECT AVG(visits.cost) FROM visits JOIN patients ON visits.patient_id = patients.patient_id WHERE patients.sex = 'F'
SELECT patients.sex, AVG(visits.cost) FROM visits JOIN patients ON visits.patient_id = patients.patient_id GROUP BY patients.sex
SELECT patients.name, SUM(visits.cost) FROM visits JOIN patients ON visits.patient_id = patients.patient_id GROUP BY patients.patient_id
SELECT patients.name FROM visits JOIN patients ON visits.patient_id = patients.patient_id GROUP BY patients.patient_id ORDER BY SUM(visits.cost) DESC LIMIT 3
SELECT patients.name FROM visits JOIN patients ON visits.patient_id = patients.patient_id GROUP BY patients.patient_id HAVING COUNT(*) >= 2
SELECT COUNT(*) FROM visits JOIN patients ON visits.patient_id = patients.patient_id JOIN wards ON patients.ward_id = wards.ward_id WHERE wards.kind = 'a'
