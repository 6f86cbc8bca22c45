"""Calls and label tables in the formats that people's tools read and write.

Every reader of calls returns a `CallTable`, every writer takes one; a file is written whole or not
at all. MIML ARFF holds bags and their labels instead.
"""

from raravis.formats.arff import read_miml_arff, write_miml_arff
from raravis.formats.audacity import read_audacity, write_audacity
from raravis.formats.birdnet import read_birdnet, write_birdnet
from raravis.formats.calls import CallTable
from raravis.formats.converting import Converted, convert
from raravis.formats.labels import SpeciesLists, read_species
from raravis.formats.raven import read_raven, write_raven
from raravis.formats.recognise import read_any, recognise
from raravis.formats.tables import read_calls, write_calls

__all__ = [
    "CallTable",
    "Converted",
    "SpeciesLists",
    "convert",
    "read_any",
    "read_audacity",
    "read_birdnet",
    "read_calls",
    "read_miml_arff",
    "read_raven",
    "read_species",
    "recognise",
    "write_audacity",
    "write_birdnet",
    "write_calls",
    "write_miml_arff",
    "write_raven",
]
