//! Orders in prompts of steps: whether a step is told to fix something.

use super::facts::prompt_text;
use orange_codegen::model::Step;

const FIX: [&str; 10] =
    ["fix", "mend", "correct", "repair", "rework", "revise", "address", "resolve", "amend", "improve"];

/// Words that stand before the verb of an order.
const BEFORE: [&str; 13] = [
    "you", "then", "now", "first", "next", "please", "finally", "must", "should", "to", "your", "task", "is",
];

/// True if the name of a step, its title or its prompt is an order to fix something. A step that writes down how to fix it has none.
pub(super) fn orders_a_fix(step: &Step) -> bool {
    let name = step.id.value.split(['-', '_']).next().unwrap_or_default();
    is_fix(name) || step.title.as_deref().is_some_and(has_order) || has_order(&prompt_text(&step.prompt))
}

fn is_fix(word: &str) -> bool {
    FIX.iter().any(|it| it.eq_ignore_ascii_case(word))
}

fn has_order(text: &str) -> bool {
    text.split(['\n', '.', ':', ';', '!', ',', '(']).any(|clause| {
        let mut is_open = true;
        clause.split(" and ").any(|part| {
            let is_order = is_open && begins_with_order(part);
            // "Say how to find and fix it" orders nothing to be fixed.
            is_open &= !part.contains(" to ");
            is_order
        })
    })
}

/// True if the first verb of a clause is one of [`FIX`] and has an object.
fn begins_with_order(clause: &str) -> bool {
    let is_mark = |it: char| !it.is_alphabetic();
    let words =
        clause.split_whitespace().filter(|it| !it.starts_with("{{")).map(|it| it.trim_matches(is_mark));
    let words = words.filter(|it| !it.is_empty());
    let is_before = |word: &&str| BEFORE.iter().any(|it| it.eq_ignore_ascii_case(word));
    let mut words = words.skip_while(is_before);
    let is_verb = words.next().is_some_and(is_fix);
    is_verb && !words.next().is_some_and(|it| ["nothing", "no"].iter().any(|no| no.eq_ignore_ascii_case(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_a_fix_are_not_an_order_to_fix() {
        for text in [
            "Fix it.",
            "You fix what a review found.",
            "Mend what the changelogs say breaks.\n{{context}}",
            "{{context}} Correct that.",
            "Read the review and fix what it found.",
            "Your task is to address:",
            "1. Read it\n2. Fix every point",
        ] {
            assert!(has_order(text), "{text}");
        }
        for text in [
            "Tell the team what is wrong.",
            "Write down how to fix it.",
            "Say how to find and fix it.",
            "Do not fix anything, and never mend it.",
            "Report the failure, fix nothing.",
            "The fix has failed.",
            "Find out why the fixes did not help.",
        ] {
            assert!(!has_order(text), "{text}");
        }
    }
}
