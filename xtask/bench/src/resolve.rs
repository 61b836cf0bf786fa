//! Times how each form resolves transitions.

use std::hint::black_box;
use std::time::Instant;

use crate::forms::{self, ResolveQuestion, hand, ours, rust_fsm, smlang, statig};

/// A form: its name, and a function that runs a number of rounds over all questions.
type ResolveForm = (&'static str, fn(&[ResolveQuestion], usize));

/// The first form does nothing, so its time is part of all others. The two matches by hand answer yes or no, like the crates, and
/// with the transition or the reason, like ours.
const FORMS: [ResolveForm; 8] = [
    ("harness", |questions, rounds| run(questions, rounds, |question| question, nothing)),
    ("by hand", |questions, rounds| run(questions, rounds, hand::ask, |it| hand::resolve(it).is_ok())),
    ("orange, typed", |questions, rounds| run(questions, rounds, ours::ask, |it| ours::resolve(it).is_ok())),
    ("orange, tables", |questions, rounds| run(questions, rounds, ours::ask, |it| ours::look_up(it).is_ok())),
    ("by hand, yes or no", |questions, rounds| run(questions, rounds, hand::ask, hand::fires)),
    ("smlang", |questions, rounds| run(questions, rounds, smlang::ask, smlang::fires)),
    ("statig", |questions, rounds| run(questions, rounds, statig::ask, statig::fires)),
    ("rust-fsm", |questions, rounds| run(questions, rounds, rust_fsm::ask, rust_fsm::fires)),
];

/// Prints the time of every form, in nanoseconds for one question.
pub fn time_all() {
    let questions = forms::questions();
    for form in &FORMS {
        println!("{}\t{:.2}", form.0, nanoseconds(form, &questions));
    }
}

/// Runs one form a number of times over all questions.
pub fn repeat(form: &str, rounds: &str) -> Result<(), String> {
    let (_, run) = FORMS.iter().find(|it| it.0 == form).ok_or(format!("no form {form}"))?;
    run(&forms::questions(), rounds.parse().map_err(|_| format!("{rounds} is not a number"))?);
    Ok(())
}

/// The shortest of many runs, for one question: other load only adds to it.
fn nanoseconds((_, run): &ResolveForm, questions: &[ResolveQuestion]) -> f64 {
    const ROUNDS: usize = 100;
    let once = || {
        let started = Instant::now();
        run(questions, ROUNDS);
        started.elapsed().as_secs_f64() * 1e9 / (ROUNDS * questions.len()) as f64
    };
    (0..20).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn run<Own: Copy>(
    questions: &[ResolveQuestion],
    rounds: usize,
    ask: impl Fn(ResolveQuestion) -> Own,
    fires: impl Fn(Own) -> bool,
) {
    let asked: Vec<Own> = questions.iter().copied().map(ask).collect();
    for _ in 0..rounds {
        let fired = black_box(&asked).iter().filter(|question| fires(**question)).count();
        black_box(fired);
    }
}

#[inline(never)]
fn nothing(question: ResolveQuestion) -> bool {
    black_box(question.2) == u32::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_the_same_answers() {
        for question in
            (0..8).flat_map(|from| (1..8).flat_map(move |to| (0..5).map(move |it| (from, to, it))))
        {
            let expect = hand::fires(hand::ask(question));
            assert_eq!(hand::resolve(hand::ask(question)).is_ok(), expect, "by hand {question:?}");
            assert_eq!(ours::resolve(ours::ask(question)).is_ok(), expect, "typed {question:?}");
            assert_eq!(ours::look_up(ours::ask(question)).is_ok(), expect, "tables {question:?}");
            assert_eq!(smlang::fires(smlang::ask(question)), expect, "smlang {question:?}");
            assert_eq!(statig::fires(statig::ask(question)), expect, "statig {question:?}");
            assert_eq!(rust_fsm::fires(rust_fsm::ask(question)), expect, "rust-fsm {question:?}");
        }
    }
}
