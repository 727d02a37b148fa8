"""What sort of thing the rows of a table are, as far as its English name or its columns tell.

A person has a nickname and a shoe size, a place a landlord, a vehicle a fuel consumption. What is asked of a thing that
cannot have it is absurd, and not merely missing.
"""

from __future__ import annotations

from fastsql.profile.kind_words import OF_PERSONS
from fastsql.profile.model import Profile
from fastsql.profile.shapes import is_called_persons
from fastsql.schema import Schema
from fastsql.synthesis.schema.words import singular

PERSON, PLACE, VEHICLE, DEVICE, WORK, GOODS, EVENT = (
    "person",
    "place",
    "vehicle",
    "device",
    "work",
    "goods",
    "event",
)
OTHER = "other"
"""Of anything else no more is taken for granted than that somebody keeps a record of it."""

_NOUNS = {
    PERSON: """
        actor actress anaesthetist architect artist assistant athlete boxer buyer candidate carer caretaker cashier
        chef clerk coach coder commander composer consultant counsellor dentist diabetic dietitian director donor driver
        editor engineer farmer fighter gymnast head host inspector instructor journalist judge keyworker lawyer lecturer
        librarian manager mayor mentor midwife musician nurse owner painter passenger perpetrator pharmacist
        photographer physiotherapist pilot player poet politician porter president professor psychologist pupil
        radiologist rider scientist singer speaker surgeon swimmer tenant therapist trainer trainee tutor visitor
        wrestler writer
        """,
    PLACE: """
        airport apartment aquarium bank branch building campus church cinema city clinic club college country department
        district factory farm gallery garden gym hospital hotel house laboratory library mall museum office park
        pharmacy restaurant room school shop stadium station store theater theatre town university venue village
        ward warehouse winery
        """,
    VEHICLE: "aircraft ambulance bicycle bike boat bus car ferry helicopter lorry motorcycle plane ship taxi tractor train "
    "tram truck van vehicle",
    DEVICE: "analyser analyzer appliance camera computer device laptop machine monitor phone printer pump robot scanner "
    "server tablet ventilator",
    WORK: "album book episode essay film magazine movie novel poem publication song story thesis",
    GOODS: "article dish drink drug good grocery ingredient item medication medicine merchandise part product toy "
    "vaccine wine",
    EVENT: "admission appointment ceremony class competition concert conference consultation contest course event exam "
    "examination exhibition flight game gathering interview journey lesson match meeting mission operation party "
    "performance race session shift show stay surgery tour tournament training trip visit voyage",
}
_SORTS: dict[str, str] = {
    noun: sort for sort, nouns in reversed(list(_NOUNS.items())) for noun in nouns.split()
}
_OWN_NAMES = frozenset(("surname", "first name", "last name", "given name", "family name"))


def sort_of(schema: Schema, profile: Profile, table: int) -> str:
    """The sort of a table's rows; OTHER where nothing tells it."""
    known = profile.tables[table]
    names = (known.called, known.words)
    for name in names:
        # The last word tells: a room type is no room.
        last = name.lower().partition(" of ")[0].split()[-1:] or [""]
        if singular(last[0]) in _SORTS:
            return _SORTS[singular(last[0])]
    if is_called_persons(names):
        return PERSON
    labels = {profile.columns[column].called.lower() for column in schema.tables[table].columns}
    own = labels & _OWN_NAMES and {label.split()[-1] for label in labels if label} & OF_PERSONS
    return PERSON if own else OTHER
