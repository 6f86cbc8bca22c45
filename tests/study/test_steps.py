"""The steps of a study: what they make, what they skip, what makes them work again."""

import csv
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.study.conftest import HIDDEN, Field, contents

from raravis.formats import read_audacity, read_calls, read_raven
from raravis.study import Settings, Study, StudyBusyError, StudyError, StudyResults, steps
from raravis.study.truth import judge

CopyOf = Callable[[], Study]


def test_the_hidden_species_is_found(finished: Study) -> None:
    results = StudyResults.load(finished)
    verdict = judge(results)
    assert verdict is not None
    assert verdict.hidden == (HIDDEN,)
    assert verdict.auc is not None
    assert verdict.auc.estimate > 0.95
    assert results.model.classes == ("Amber whistler", "Ember buzzer")
    assert results.model.n_bags == 12
    assert 0 < results.about()["novel"] < results.about()["calls"]


def test_results_are_consistent(finished: Study, pristine: Field) -> None:
    results = StudyResults.load(finished)
    calls = results.calls
    assert [found.name for found in results.recordings] == list(pristine.made.recordings)
    novel = np.array([label == "novel" for label in calls.label])
    assert np.array_equal(novel, results.novel)
    assert np.isfinite(results.novelty).all()
    assert np.array_equal(np.sort(results.novelty)[::-1], results.novelty[results.by_novelty])
    for name, label in zip(calls.recording, calls.label, strict=True):
        assert label == "novel" or label in results.species.get(name, results.model.classes)
    bags = results.features()
    assert bags.n_instances == len(calls)
    assert [bags.keys[i] for i in bags.bag_index] == list(calls.recording)


def test_tables_hold_the_results(finished: Study) -> None:
    results, folder = StudyResults.load(finished), finished.results_folder
    assert read_calls(folder / "calls.csv") == results.calls
    assert read_calls(folder / "calls.parquet") == results.calls
    with (folder / "calls.csv").open(encoding="utf-8") as file:
        head = next(csv.reader(file))
    assert head == [
        *("recording", "begin_s", "end_s", "low_hz", "high_hz", "label", "novelty"),
        *results.model.classes,
    ]
    name = results.calls.recording[0]
    expected = results.calls.for_recording(name)
    for read, kind, ending in (
        (read_raven, "raven", ".selections.txt"),
        (read_audacity, "audacity", ".labels.txt"),
    ):
        found = read(folder / kind / f"{name}{ending}")
        assert found.label == expected.label
        assert np.array_equal(found.begin_s, expected.begin_s)
        assert np.array_equal(found.high_hz, expected.high_hz)
    with (folder / "recordings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["recording"] for row in rows] == [found.name for found in results.recordings]
    assert sum(int(row["calls"]) for row in rows) == len(results.calls)


def test_a_second_run_does_nothing(copy_of: CopyOf) -> None:
    study = copy_of()
    before = contents(study.folder)
    done = steps.run(study, workers=1)
    assert [step.verb for step in done] == [
        *("label", "segment", "features", "fit", "calibrate", "score", "report")
    ]
    assert not any(step.new for step in done)
    after = contents(study.folder)
    del before[".lock"], after[".lock"]
    assert after == before


def test_step_by_step_is_the_same_as_at_once(
    finished: Study, pristine: Field, tmp_path: Path
) -> None:
    study = pristine.study(tmp_path / "study", truth=str(pristine.truth))
    for step in (
        *(steps.init, steps.segment, steps.features, steps.label, steps.fit),
        *(steps.calibrate, steps.score),
    ):
        assert step(study, workers=1).new
    assert steps.report(study).new
    assert contents(study.results_folder) == contents(finished.results_folder)
    assert [entry["verb"] for entry in study.journal()] == [
        *("init", "segment", "features", "label", "fit", "calibrate", "score", "report")
    ]


def test_workers_change_nothing(finished: Study, pristine: Field, tmp_path: Path) -> None:
    study = pristine.study(tmp_path / "study")
    steps.run(study, workers=2)
    assert contents(study.results_folder) == contents(finished.results_folder)


@pytest.mark.parametrize(
    ("step", "advice"),
    [
        (steps.features, "raravis segment"),
        (steps.fit, "raravis segment"),
        (steps.calibrate, "raravis fit"),
        (steps.score, "raravis fit"),
        (steps.report, "raravis run --out"),
    ],
)
def test_a_step_out_of_turn_says_what_to_do(
    pristine: Field, tmp_path: Path, step: Callable[[Study], object], advice: str
) -> None:
    study = pristine.study(tmp_path / "study")
    with pytest.raises(StudyError, match=advice):
        step(study)


def test_a_new_list_is_learned_and_nothing_else_computed(field: Field) -> None:
    study = field.study()
    steps.run(study, workers=1)
    first = StudyResults.load(study)
    table = field.table.read_text(encoding="utf-8").splitlines()
    field.table.write_text("\n".join(table[:-1]) + "\n", encoding="utf-8")
    done = {step.verb: step for step in steps.run(study, workers=1)}
    assert [verb for verb, step in done.items() if step.new] == [
        *("label", "fit", "calibrate", "score", "report")
    ]
    second = StudyResults.load(study)
    assert second.model.n_bags == first.model.n_bags - 1
    assert second.run != first.run


def test_new_removed_and_renamed_recordings(field: Field) -> None:
    study = field.study()
    steps.run(study, workers=1)
    names = field.made.recordings
    (field.recordings / names[-1]).unlink()
    (field.recordings / "deep").mkdir()
    (field.recordings / names[0]).rename(field.recordings / "deep" / names[0])
    shutil.copy(field.recordings / names[3], field.recordings / "again.wav")
    done = {step.verb: step for step in steps.run(study, workers=1)}
    assert done["segment"].facts["new_files"] == 0, "content that was seen is not read again"
    results = StudyResults.load(study)
    assert f"deep/{names[0]}" in results.species, "the table names the file without its folder"
    raven = set(contents(study.results_folder / "raven"))
    assert f"deep/{names[0]}.selections.txt" in raven
    assert "again.wav.selections.txt" in raven
    assert f"{names[-1]}.selections.txt" not in raven


def test_a_deleted_table_is_written_again(copy_of: CopyOf) -> None:
    study = copy_of()
    before = contents(study.results_folder)
    (study.results_folder / "calls.csv").unlink()
    shutil.rmtree(study.results_folder / "raven")
    assert steps.score(study).new
    assert contents(study.results_folder) == before


def test_settings_decide_what_is_computed(field: Field) -> None:
    study = field.study()
    steps.run(study, workers=1)
    free = Study.create(study.folder, study.settings.changed(known_labels="ignore"))
    done = {step.verb: step.new for step in steps.run(free, workers=1)}
    assert not done["fit"]
    assert done["score"]
    windows = Study.create(
        study.folder, study.settings.changed(segmentation="windows", window_s=1.0)
    )
    facts = {step.verb: step.facts for step in steps.run(windows, workers=1)}
    assert facts["segment"]["segments"] == 14 * 6
    back = {step.verb: step.new for step in steps.run(study, workers=1)}
    assert not any(back[verb] for verb in ("segment", "features", "fit")), "all this is kept"


def test_boxes_come_from_a_table(field: Field) -> None:
    study = field.study(segmentation="boxes", boxes=str(field.truth))
    done = {step.verb: step.facts for step in steps.run(study, workers=1)}
    assert done["segment"]["segments"] == len(field.made.calls)
    assert StudyResults.load(study).calls.begin_s[0] == field.made.calls.begin_s[0]


def test_a_miss_rate_is_a_promise(copy_of: CopyOf) -> None:
    study = copy_of()
    promised = Study.create(study.folder, study.settings.changed(miss_rate=0.4))
    done = {step.verb: step for step in steps.run(promised, workers=1)}
    assert not done["fit"].new
    facts = done["calibrate"].facts
    results = StudyResults.load(promised)
    assert results.promise == facts["promise"] != ""
    assert results.threshold == facts["novelty"]
    assert np.array_equal(
        results.novel, np.array([label == "novel" for label in results.calls.label])
    )
    strict = Study.create(study.folder, study.settings.changed(miss_rate=0.001))
    facts = {step.verb: step.facts for step in steps.run(strict, workers=1)}["calibrate"]
    assert "needed" in facts["reason"]
    assert facts["promise"] == ""


def test_decisions_teach(copy_of: CopyOf) -> None:
    study = copy_of()
    results = StudyResults.load(study)
    chosen = [int(i) for i in results.by_novelty[:6]]
    asked = []

    def decided(of: Study, calls: object) -> dict[int, str | None]:
        asked.append(calls)
        return {**dict.fromkeys(chosen[:5], HIDDEN), chosen[5]: None}

    assert not steps.fit(study, decided=decided, workers=1).new, "the settings do not ask for them"
    assert asked == []
    taught = Study.create(study.folder, study.settings.changed(decisions="use"))
    done = {step.verb: step for step in steps.run(taught, decided=decided, workers=1)}
    assert done["fit"].facts["decisions"] == 6
    assert asked[0] == replace(
        results.calls, label=None, novelty=None, class_scores=None, classes=()
    )
    assert HIDDEN in StudyResults.load(taught).model.classes
    # What was decided is what the model makes of it.
    labels = StudyResults.load(taught).calls.label
    assert [labels[i] for i in chosen[:5]] == [HIDDEN] * 5


def test_bad_recordings_are_listed_and_end_nothing(field: Field) -> None:
    (field.recordings / "empty.wav").touch()
    (field.recordings / "text.wav").write_text("this is no sound", encoding="utf-8")
    whole = (field.recordings / field.made.recordings[0]).read_bytes()
    (field.recordings / "cut.wav").write_bytes(whole[: len(whole) // 2])
    with field.table.open("a", encoding="utf-8") as file:
        file.write("nowhere.wav,Amber whistler\n")
    study = field.study()
    done = {step.verb: step for step in steps.run(study, workers=1)}
    assert set(done["segment"].problems) == {"empty.wav", "text.wav"}
    assert done["label"].facts["unmatched"] == ["nowhere.wav"]
    with (study.results_folder / "recordings.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["recording"]: row for row in csv.DictReader(file)}
    assert rows["empty.wav"]["status"] == "empty"
    assert rows["text.wav"]["status"] == "unreadable"
    assert rows["text.wav"]["detail"] != ""
    assert rows["cut.wav"]["status"] == "truncated"
    assert int(rows["cut.wav"]["calls"]) > 0
    page = study.report_path.read_text(encoding="utf-8")
    assert all(name in page for name in ("empty.wav", "text.wav", "cut.wav", "nowhere.wav"))


def test_a_file_replaced_between_steps_is_noticed(field: Field) -> None:
    study = field.study()
    steps.segment(study, workers=1)
    name = field.made.recordings[0]
    # Without its first sound: new content under an old name.
    whole = (field.recordings / name).read_bytes()
    (field.recordings / name).write_bytes(whole[:44] + bytes(80_000) + whole[80_044:])
    with pytest.raises(StudyError, match=rf"have changed since \({name}\).*raravis segment"):
        steps.features(study, workers=1)
    assert steps.segment(study, workers=1).facts["new_files"] == 1
    assert steps.features(study, workers=1).new


def test_an_empty_list_makes_every_call_novel(field: Field) -> None:
    name = field.made.recordings[0]
    text = field.table.read_text(encoding="utf-8").splitlines()
    text[1] = f"{name},"
    field.table.write_text("\n".join(text) + "\n", encoding="utf-8")
    study = field.study()
    steps.run(study, workers=1)
    results = StudyResults.load(study)
    rows = [i for i, it in enumerate(results.calls.recording) if it == name]
    assert results.species[name] == ()
    assert {results.calls.label[i] for i in rows} == {"novel"}
    assert np.isfinite(results.novelty[rows]).all()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("recording,species\n", "names no recording"),
        ("recording,species\nx.wav,owl\n", r"\(it names 'x.wav'\)"),
        ("recording,species\n{name},\n", "lists no species for any recording"),
        ("recording,species\n{name},novel\n", "lists a species 'novel'"),
        ("recording,species\n{name},Label\n", "lists a species 'Label'"),
    ],
)
def test_tables_of_species_that_cannot_be_used(field: Field, table: str, message: str) -> None:
    field.table.write_text(table.format(name=field.made.recordings[0]), encoding="utf-8")
    study = field.study()
    with pytest.raises(StudyError, match=message):
        steps.run(study, workers=1)
    assert not (study.folder / "segments").exists(), "it is told before any work is done"


def test_no_table_no_recordings_no_folder(field: Field, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="has no table of species; name one with raravis label"):
        steps.run(field.study(tmp_path / "one", labels=None))
    with pytest.raises(StudyError, match="is not there; put it back"):
        steps.run(field.study(tmp_path / "two", labels="gone.csv"))
    (tmp_path / "bare").mkdir()
    with pytest.raises(StudyError, match="there is no recording in"):
        steps.run(field.study(tmp_path / "three", recordings=str(tmp_path / "bare")))
    with pytest.raises(StudyError, match="is no folder; put it back"):
        steps.run(field.study(tmp_path / "four", recordings=str(tmp_path / "gone")))


def test_two_at_once_is_refused(field: Field) -> None:
    study = field.study()
    with study.working("run"), pytest.raises(StudyBusyError, match="worked on by raravis run"):
        steps.segment(Study.open(study.folder))


def test_relative_places_start_at_the_study(field: Field) -> None:
    settings = Settings(recordings="../recordings", labels="../species.csv")
    study = Study.create(field.folder / "study", settings)
    steps.run(study, workers=1)
    moved = field.folder.rename(field.folder.with_name("moved"))
    done = steps.run(Study.open(moved / "study"), workers=1)
    assert not any(step.new for step in done)
