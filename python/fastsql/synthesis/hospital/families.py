"""All families of questions: a new one is a file, its import, and its line here."""

from __future__ import annotations

from fastsql.synthesis.hospital.course.before import Before
from fastsql.synthesis.hospital.course.between import Between
from fastsql.synthesis.hospital.course.change import Change
from fastsql.synthesis.hospital.course.compare_patients import ComparePatients
from fastsql.synthesis.hospital.course.detail import Detail
from fastsql.synthesis.hospital.course.elapsed import Elapsed
from fastsql.synthesis.hospital.course.following import Following
from fastsql.synthesis.hospital.course.new_names import NewNames
from fastsql.synthesis.hospital.course.patient_cost import PatientCost
from fastsql.synthesis.hospital.course.percentile import Percentile
from fastsql.synthesis.hospital.course.repeated import Repeated
from fastsql.synthesis.hospital.course.stay_length import StayLength
from fastsql.synthesis.hospital.course.together import Together
from fastsql.synthesis.hospital.course.visit_time import VisitTime
from fastsql.synthesis.hospital.events.any_admission import AnyAdmission
from fastsql.synthesis.hospital.events.any_event import AnyEvent
from fastsql.synthesis.hospital.events.count_events import CountEvents
from fastsql.synthesis.hospital.events.count_names import CountNames
from fastsql.synthesis.hospital.events.count_visits import CountVisits
from fastsql.synthesis.hospital.events.list_names import ListNames
from fastsql.synthesis.hospital.events.list_readings import ListReadings
from fastsql.synthesis.hospital.events.organism import Organism
from fastsql.synthesis.hospital.events.reading import Reading
from fastsql.synthesis.hospital.events.total import Total
from fastsql.synthesis.hospital.events.when import When
from fastsql.synthesis.hospital.events.when_extreme import WhenExtreme
from fastsql.synthesis.hospital.events.which_name import WhichName
from fastsql.synthesis.hospital.family import Draw
from fastsql.synthesis.hospital.population.admission_average import AdmissionAverage
from fastsql.synthesis.hospital.population.breakdown import Breakdown
from fastsql.synthesis.hospital.population.count_followed import CountFollowed
from fastsql.synthesis.hospital.population.count_patients import CountPatients
from fastsql.synthesis.hospital.population.count_people import CountPeople
from fastsql.synthesis.hospital.population.count_repeated import CountRepeated
from fastsql.synthesis.hospital.population.count_without import CountWithout
from fastsql.synthesis.hospital.population.extreme_patient import ExtremePatient
from fastsql.synthesis.hospital.population.intake_route import IntakeRoute
from fastsql.synthesis.hospital.population.list_patients import ListPatients
from fastsql.synthesis.hospital.population.measure_of_all import MeasureOfAll
from fastsql.synthesis.hospital.population.mortality import Mortality
from fastsql.synthesis.hospital.population.price import Price
from fastsql.synthesis.hospital.population.ranking import Ranking
from fastsql.synthesis.hospital.population.rate import Rate
from fastsql.synthesis.hospital.population.survival_rate import SurvivalRate
from fastsql.synthesis.hospital.population.visit_cost import VisitCost

FAMILIES: tuple[tuple[float, Draw], ...] = (
    (2.0, AnyEvent.draw),
    (0.3, AnyAdmission.draw),
    (1.2, CountEvents.draw),
    (0.5, CountNames.draw),
    (0.5, ListNames.draw),
    (0.8, CountVisits.draw),
    (2.5, When.draw),
    (1.5, WhenExtreme.draw),
    (2.0, WhichName.draw),
    (0.7, Organism.draw),
    (1.8, Reading.draw),
    (2.0, Total.draw),
    (1.6, Change.draw),
    (0.3, ComparePatients.draw),
    (1.0, Elapsed.draw),
    (0.6, Repeated.draw),
    (0.3, Percentile.draw),
    (2.0, Following.draw),
    (0.6, Together.draw),
    (0.6, NewNames.draw),
    (0.6, Detail.draw),
    (0.5, StayLength.draw),
    (0.5, VisitTime.draw),
    (0.3, PatientCost.draw),
    (0.8, CountEvents.draw_of_all),
    (2.0, CountPatients.draw),
    (0.4, ListPatients.draw),
    (1.8, CountFollowed.draw),
    (3.0, Ranking.draw),
    (0.3, Price.draw),
    (0.15, IntakeRoute.draw),
    (1.2, VisitCost.draw),
    (1.2, Rate.draw),
    (0.25, Mortality.draw),
    (0.4, ListReadings.draw),
    (0.4, Before.draw),
    (0.4, Between.draw),
    (2.5, CountPeople.draw),
    (1.2, AdmissionAverage.draw),
    (0.3, Breakdown.draw),
    (0.25, SurvivalRate.draw),
    (0.5, CountRepeated.draw),
    (0.4, CountWithout.draw),
    (0.5, MeasureOfAll.draw),
    (0.3, ExtremePatient.draw),
)
"""With how often each is drawn, in relation to the others."""
