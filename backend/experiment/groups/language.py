"""The language of the texts for evaluators, and the researcher's own texts."""

from backend.experiment import languages
from backend.experiment.setting_groups import Group, setting
from backend.foundation.errors import under
from backend.foundation.frozen import dataclass


@dataclass(frozen=True)
class LanguageSettings(Group):
    """The language of all that evaluators read, and the researcher's own texts."""

    language: str = setting(
        "en",
        "language of the page: `en`, `de`, `es`, `fr`, `pt`, `ja`, `zh` (simplified), `ar`; or `choose`: the "
        "evaluator's browser decides, and the first screen lets them choose another",
        choices=(*languages.LANGUAGES, languages.CHOOSE),
        label="Language",
        asked=11,
        meaning="All that evaluators read is in it.",
        choice_labels=(*languages.LANGUAGES.values(), "each evaluator chooses"),
    )
    texts: tuple[languages.OwnText, ...] = setting(
        (),
        "texts that replace the page's own, by key: the table `[texts]` of a study.toml, or `@FILE` with "
        "such a table",
        meaning="Texts that replace the page's own: on each line a key, =, and the text.",
        label="Texts of your own",
    )

    def __post_init__(self) -> None:
        with under("settings", "language"):
            languages.check_language(self.language)
        super().__post_init__()
