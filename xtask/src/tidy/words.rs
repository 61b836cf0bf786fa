//! Words and sentences of a dialect of our own, which no newcomer reads with ease, and what to write instead.

use std::collections::BTreeSet;

use super::RuleBreach;
use super::prose::{self, CodeName, Prose};
use crate::workspace::TextFile;

/// The ends of the paths of what people read, beside Rust.
pub(super) const READ: &[&str] = &[
    ".md",
    ".yml",
    ".yaml",
    ".toml",
    ".sh",
    ".ci/run",
    ".ci/download",
    ".ci/hook",
    "engine/src/demo/claude",
    "tests/agents/gh",
    "tests/agents/glab",
];

/// A word that is refused in prose and as part of a name.
struct RefusedWord {
    text: &'static str,
    /// The phrases of ordinary English that have it.
    ordinary: &'static [&'static str],
    remedy: &'static str,
}

const fn word(text: &'static str, remedy: &'static str) -> RefusedWord {
    RefusedWord { text, ordinary: &[], remedy }
}

const WORDS: &[RefusedWord] = &[
    RefusedWord {
        text: "way",
        ordinary: &[
            "under way",
            "in the way",
            "the same way",
            "in this way",
            "in every way",
            "in more than one way",
            "way to",
            "one way human",
        ],
        remedy: "write `transition`, `path`, or how it happens",
    },
    word("ways", "write `transitions`, `paths`, or how it happens"),
    RefusedWord { text: "told", ordinary: &["told to"], remedy: "say who reports, prints or reads it" },
    word("kin", "write `siblings`"),
    word("keeper", "write `backup`"),
    word("keepers", "write `backups`"),
    word("mover", "write `actor`"),
    word("movers", "write `actors`"),
    word("family", "write `group`"),
    word("settle", "write `answer`, `decide` or `repair`"),
    word("settles", "write `answers`, `decides` or `repairs`"),
    word("settled", "write `answered`, `decided` or `repaired`"),
    word("unjudged", "write which rule has not been applied"),
    word("in hand", "say which state it is in"),
    word("wrong but for", "say what the exception is"),
    word("but on record", "write `journaled`"),
    word("say forced", "write what the answer has"),
    word("anew", "write `again`"),
    word("whoever", "name who: an agent, a person, a process"),
    RefusedWord {
        text: "the page",
        ordinary: &["the page of", "the page about", "the page has", "on the page", "of the page"],
        remedy: "write `the file`, or say which page",
    },
];

/// Names of types, variants and functions that say nothing to a newcomer.
const NAMES: &[(&str, &str)] = &[
    ("Attended", "write `AgentProcesses`, or who is needed"),
    ("Ahead", "write what comes next"),
    ("Moved", "write `StatusChange` or `Transitioned`"),
    ("Kept", "write `Backup`"),
];

/// Names that are plain as a variant or in a path, and too general for a declaration.
const DECLARED: &[(&str, &str)] = &[
    ("struct Orange", "write `App`"),
    ("struct Open", "write `LockedWorkItem`"),
    ("enum Open", "write what is open"),
    ("type Open", "write what is open"),
    ("struct Log", "write `WorkItemHistory`"),
    ("fn must", "write a verb that says what is checked"),
    ("fn may", "write a question: `is_allowed`"),
    ("fn or", "write what the alternative is"),
];

/// General names of types that have one meaning each, and the files that declare it, or their folders.
const ONE_MEANING: &[(&str, &[&str])] = &[
    ("Outcome", &["codegen/src/model/mod.rs", "engine/core/src/exit.rs"]),
    ("Place", &[]),
    ("Run", &["tools/cli/src/graph/run.rs"]),
    ("Step", &["codegen/src/model/mod.rs", "engine/core/src/plan.rs", "tests/golden/"]),
];

/// A sentence that is refused for how it is built.
struct SentenceShape {
    problem: &'static str,
    is_in: fn(&str) -> bool,
    remedy: &'static str,
}

const SHAPES: &[SentenceShape] = &[
    SentenceShape {
        problem: "begins with a clause for its subject",
        is_in: has_clause_for_subject,
        remedy: "name the subject: `a file that cannot be read is left out`, or say who does it",
    },
    SentenceShape {
        problem: "names its actor by a clause (`by who …`)",
        is_in: |sentence| sentence.contains(" by who "),
        remedy: "name who: an agent, a person, a process",
    },
    SentenceShape {
        problem: "adds a subject without a verb (`or none that`)",
        is_in: |sentence| sentence.contains(", or none that "),
        remedy: "say which condition does not hold: `or its guard never holds`",
    },
    SentenceShape {
        problem: "ends in a hint without a verb (`: time to …`)",
        is_in: |sentence| sentence.contains(": time to "),
        remedy: "say which command to run",
    },
    SentenceShape {
        problem: "ends in a comparison without a verb (`, as every …`)",
        is_in: ends_in_a_comparison,
        remedy: "write the verb, `as every agent does`, or leave it out",
    },
    SentenceShape {
        problem: "denies what something is by `no`",
        is_in: is_denied_by_no,
        remedy: "write `is not a …`",
    },
    SentenceShape {
        problem: "cites a page that is not in the repository",
        is_in: |sentence| ["design §", "seed 00", "seeds 00"].iter().any(|it| sentence.contains(it)),
        remedy: "say the reason",
    },
];

/// Every such word, name and sentence.
pub(super) fn all(files: &[TextFile]) -> Vec<RuleBreach> {
    files.iter().filter(|file| file.path != file!()).flat_map(in_file).collect()
}

fn in_file(file: &TextFile) -> Vec<RuleBreach> {
    let (prose, names) = prose::of(file);
    let mut found: BTreeSet<(usize, String, &str)> = BTreeSet::new();
    for text in &prose {
        found.extend(words_in(text));
        found.extend(shapes_in(text));
    }
    for pair in names.windows(2) {
        found.extend(declaration(&file.path, &pair[0], &pair[1]));
    }
    for name in &names {
        found.extend(in_name(name));
    }
    let finding = |(line, problem, remedy)| RuleBreach::new(format!("{}:{line}", file.path), problem, remedy);
    found.into_iter().map(finding).collect()
}

type FoundWord = (usize, String, &'static str);

fn words_in(prose: &Prose) -> impl Iterator<Item = FoundWord> {
    let text = prose.text.to_lowercase().replace('\n', " ");
    WORDS.iter().flat_map(move |word| {
        let lines: Vec<_> = places(&text, word).map(|at| line_of(prose, at)).collect();
        lines.into_iter().map(|line| (line, format!("says `{}`, a word of our own", word.text), word.remedy))
    })
}

/// Offsets at which a text has a word as a whole and outside of its ordinary phrases: `-` and `_` make it a part of a name.
fn places(text: &str, word: &'static RefusedWord) -> impl Iterator<Item = usize> {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
    text.match_indices(word.text).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (&text[..*at], &text[at + word.text.len()..]);
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        let is_ordinary = word
            .ordinary
            .iter()
            .filter_map(|it| it.split_once(word.text))
            .any(|(head, tail)| before.ends_with(head) && after.starts_with(tail));
        is_whole && !is_ordinary
    })
}

fn in_name(name: &CodeName<'_>) -> Option<FoundWord> {
    let apart = apart(name.text);
    let word = WORDS.iter().find(|word| places(&apart, word).next().is_some());
    let remedy = word.map(|it| it.remedy).or_else(|| {
        let (_, remedy) = NAMES.iter().find(|(known, _)| *known == name.text)?;
        Some(*remedy)
    })?;
    Some((name.line, format!("has the name `{}`", name.text), remedy))
}

/// The words of a name: `is told` of `is_told` and `IsTold`.
fn apart(name: &str) -> String {
    let mut words = String::new();
    let mut was_lower = false;
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() && was_lower {
            words.push(' ');
        }
        words.extend(letter.to_lowercase().filter(|it| *it != '_'));
        was_lower = letter.is_lowercase();
    }
    words
}

fn declaration(path: &str, keyword: &CodeName<'_>, name: &CodeName<'_>) -> Option<FoundWord> {
    let declared = format!("{} {}", keyword.text, name.text);
    if let Some((_, remedy)) = DECLARED.iter().find(|(known, _)| *known == declared) {
        return Some((name.line, format!("declares `{declared}`"), remedy));
    }
    let is_type = matches!(keyword.text, "struct" | "enum" | "type" | "trait");
    let (_, files) = ONE_MEANING.iter().find(|(known, _)| is_type && *known == name.text)?;
    (!files.iter().any(|it| path.starts_with(it))).then(|| {
        let problem = format!("gives `{}` another meaning", name.text);
        (name.line, problem, "name it after what it is: `TaskState`, `CiStep`")
    })
}

fn shapes_in(prose: &Prose) -> impl Iterator<Item = FoundWord> {
    sentences(&prose.text).flat_map(move |(at, sentence)| {
        let shapes = SHAPES.iter().filter(move |shape| (shape.is_in)(&sentence));
        let line = line_of(prose, at);
        shapes.map(move |shape| (line, shape.problem.to_string(), shape.remedy))
    })
}

fn line_of(prose: &Prose, at: usize) -> usize {
    let before = prose.text.char_indices().take_while(|(place, _)| *place < at);
    prose.line + before.filter(|(_, it)| *it == '\n').count()
}

/// The sentences of a text, in one line each, and where they begin.
fn sentences(text: &str) -> impl Iterator<Item = (usize, String)> {
    let ends = text.match_indices([' ', '\n']).map(|(at, _)| at).filter(|at| {
        let (before, after) = (&text[..*at], &text[at + 1..]);
        let is_new = after.trim_start_matches(' ').starts_with(['\n', '|', '#', '-', '*']);
        before.ends_with(['.', '?', '!', ';', '|']) || text[*at..].starts_with('\n') && is_new
    });
    let starts = std::iter::once(0).chain(ends.clone().map(|at| at + 1));
    let starts: Vec<_> = starts.zip(ends.chain([text.len()])).collect();
    starts.into_iter().map(|(from, to)| {
        let lines = text[from..to].trim_start_matches(['|', '#', '-', '*', ' ', '\n']);
        (to - lines.len(), lines.replace('\n', " "))
    })
}

/// Verbs after which a clause is complete.
const VERBS: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "can", "cannot", "may", "must", "would", "stays",
    "goes", "comes", "counts",
];

/// Words that begin another clause, or join two verbs.
const JOINS: &[&str] = &[
    "after", "and", "as", "before", "but", "by", "for", "how", "if", "of", "once", "or", "than", "that",
    "to", "until", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
    "with",
];

/// True if a sentence begins with a clause that another verb follows: `What cannot be read is left out`.
fn has_clause_for_subject(sentence: &str) -> bool {
    let begins = ["What ", "Who ", "Whatever "].iter().find_map(|it| sentence.strip_prefix(it));
    let Some(rest) = begins.filter(|_| !sentence.ends_with('?')) else { return false };
    let rest = rest.split([',', ':', ';', '.', '?']).next().unwrap_or(rest);
    let words: Vec<_> = rest.split_whitespace().collect();
    let is_relative =
        |at: usize| words[at.saturating_sub(3)..at].iter().any(|it| matches!(*it, "that" | "which" | "who"));
    let verbs: Vec<_> =
        (0..words.len()).filter(|at| VERBS.contains(&words[*at]) && !is_relative(*at)).collect();
    verbs.windows(2).any(|pair| {
        let between = &words[pair[0] + 1..pair[1]];
        !between.is_empty() && !between.iter().any(|it| JOINS.contains(it))
    })
}

/// True if a sentence says `x is no file`. `There is no file` and comparisons are ordinary.
fn is_denied_by_no(sentence: &str) -> bool {
    const ORDINARY: &[&str] = &[
        "better", "fewer", "help", "later", "less", "longer", "more", "new", "newer", "news", "older", "one",
        "such", "worse",
    ];
    let is_ordinary = |before: &str, after: &str| {
        let next = after.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        before.to_lowercase().ends_with("here") || next.is_empty() || ORDINARY.contains(&next)
    };
    [" is no ", " are no "].iter().any(|denied| {
        let mut found = sentence.match_indices(denied);
        found.any(|(at, _)| !is_ordinary(&sentence[..at], &sentence[at + denied.len()..]))
    })
}

fn ends_in_a_comparison(sentence: &str) -> bool {
    let Some((_, end)) = sentence.rsplit_once(", as ") else { return false };
    let words: Vec<_> = end.trim_end_matches(['.', ' ']).split_whitespace().collect();
    let is_of_all = matches!(words.first(), Some(&("every" | "each" | "any" | "all")));
    is_of_all
        && words.len() < 4
        && !matches!(words.last(), Some(&("do" | "does" | "has" | "have" | "is" | "are")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and the remedy of each finding.
    #[track_caller]
    fn check(path: &str, text: &str, expect: &[(usize, &str)]) {
        let file = TextFile { path: path.to_string(), text: text.to_string() };
        let found: Vec<_> = in_file(&file).into_iter().map(|it| (it.place, it.remedy)).collect();
        let expect: Vec<_> = expect.iter().map(|(line, it)| (format!("{path}:{line}"), *it)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn every_word_is_found_in_prose_and_in_names() {
        for word in WORDS {
            let found = [(2, word.remedy)];
            check("docs/a.md", &format!("# A\nSome {} it.\n", word.text), &found);
            check("engine/src/a.rs", &format!("let a;\nb(\"{{c}} {} it\");\n", word.text), &found);
            check("xtask/src/a.rs", &format!("//! A,\n//! {} it.\n", word.text), &found);
            let name = format!("let a;\nlet it_{}_is;\n", word.text.replace(' ', "_"));
            check("tests/tests/a.rs", &name, &found);
            for ordinary in word.ordinary {
                check("docs/a.md", &format!("Some {ordinary}\nit.\n"), &[]);
            }
        }
    }

    #[test]
    fn a_word_is_no_part_of_another() {
        check("docs/lints/a.md", "# C10 one-way-human-gate, always, skin\n", &[]);
        check("a.rs", "let always = format!(\"{way:?}\");\n", &[]);
        check("a.rs", "let is_in_the_way = skin;\n", &[]);
        check("a.rs", "const MAX_TOLD: usize = 1;\n", &[(1, WORDS[2].remedy)]);
        check("a.rs", "enum A { ReTold }\n", &[(1, WORDS[2].remedy)]);
    }

    #[test]
    fn a_phrase_may_cross_lines() {
        check("a.rs", "// It is in\n// hand.\n", &[(1, "say which state it is in")]);
    }

    #[test]
    fn every_name_is_found() {
        for (name, remedy) in NAMES {
            check("a.rs", &format!("let a;\nmatch b {{ C::{name} => d }}\n"), &[(2, remedy)]);
        }
        for (declared, remedy) in DECLARED {
            check("a.rs", &format!("let a;\npub(crate) {declared}<'a> {{}}\n"), &[(2, remedy)]);
        }
        check("a.rs", "let it = Target::Open;\nlog.or(other);\n", &[]);
    }

    #[test]
    fn a_general_name_has_one_meaning() {
        let remedy = "name it after what it is: `TaskState`, `CiStep`";
        for (name, files) in ONE_MEANING {
            let text = format!("//! A.\npub enum {name} {{}}\n");
            check("xtask/src/a.rs", &text, &[(2, remedy)]);
            for file in *files {
                check(file, &text, &[]);
            }
        }
    }

    #[test]
    fn every_shape_is_found() {
        let examples = [
            "What cannot be read is left out.",
            "It is finished by who comes next.",
            "No transition leads there, or none that ever opens.",
            "It is no longer found: time to write it.",
            "It reads its keys, as every coding agent.",
            "The file is no workflow.",
            "The engine owns these keys (design §6).",
        ];
        assert_eq!(examples.len(), SHAPES.len());
        for (shape, example) in SHAPES.iter().zip(examples) {
            check("docs/a.md", &format!("# A\n\nThe first one. {example}\n"), &[(3, shape.remedy)]);
            check(
                "a.rs",
                &format!("//! A.\n/// {}\nstruct A;\n", example.replace(". ", ".\n/// ")),
                &[(2, shape.remedy)],
            );
        }
        check("a.rs", "// The workflow of seed 003.\n", &[(1, "say the reason")]);
    }

    #[test]
    fn sentences_with_subject_and_verb_pass() {
        for plain in [
            "What the doctor finds.",
            "What a task that is over has left.",
            "What it has and is.",
            "Who is asked, and what it may answer.",
            "What is left when it ends?",
            "It ends, as every agent does.",
            "It comes from seed 156.",
            "It is done by whom it names.",
            "There is no file, and it is no longer than one line.",
        ] {
            check("a.rs", &format!("/// {plain}\nstruct A;\n"), &[]);
        }
    }
}
