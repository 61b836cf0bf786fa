//! Compares the typed functions of emitted modules with their tables.

use std::ops::Range;

/// Compares `resolve` and `exit` of an emitted module with its `MACHINE`: for every pair of states, every set of artifacts, and
/// counter values around every constant in the tests' guards, or those that are given.
#[macro_export]
macro_rules! check_typed {
    ($workflow:ident) => {
        $crate::check_typed!($workflow, $crate::typed::samples())
    };
    ($workflow:ident, $samples:expr) => {{
        use $crate::typed::subsets;
        use $workflow::*;
        for from in State::ALL {
            for counters in $samples.map(Counters::from_values) {
                for to in State::ALL {
                    let typed = resolve(from, to, &counters);
                    let typed = typed.map(|open| open.iter().map(|it| it.id()).collect::<Vec<_>>());
                    let typed = typed.map_err(|it| it.rejection(State::id));
                    let values = counters.values();
                    let table = MACHINE.resolve(from.id(), to.id(), &values).map(Vec::from_iter);
                    assert_eq!(typed, table, "{NAME}: {from} to {to} with {counters:?}");
                }
                for artifacts in subsets::<EXIT_RULES>(&MACHINE.exit_rules_of(from.id())) {
                    let typed = exit(from, &artifacts, &counters);
                    let table = MACHINE.exit(from.id(), &artifacts, &counters.values());
                    assert_eq!(typed, table, "{NAME}: {from} with {artifacts:?} and {counters:?}");
                }
            }
        }
    }};
}

/// Compares the typed functions of an emitted module with its `PLAN`, for every step and role.
#[macro_export]
macro_rules! check_plan {
    ($workflow:ident) => {{
        $crate::check_steps!($workflow);
        $crate::check_conditions!($workflow);
    }};
}

/// Compares what an emitted module says of every step and role with its `PLAN`.
#[macro_export]
macro_rules! check_steps {
    ($workflow:ident) => {{
        use $workflow::*;
        assert_eq!((PLAN.name, PLAN.source_hash), (NAME, SOURCE_HASH));
        assert_eq!((PLAN.steps.len(), PLAN.roles), (Step::ALL.len(), &Role::NAMES[..]));
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
            assert_eq!(Role::from_id(role.id()), Some(role));
            assert_eq!(PLAN.role(role.id()), role.to_string());
        }
        for step in Step::ALL {
            assert_eq!(step.as_str().parse(), Ok(step));
            assert_eq!(Step::from_id(step.id()), Some(step));
            let table = PLAN.step(step.id());
            assert_eq!(table.id, step.to_string());
            assert_eq!(table.role, step.role().id());
            assert!(table.depends_on.iter().copied().eq(step.depends_on().iter().map(|it| it.id())));
            assert_eq!(table.on_fail, step.on_fail().map(Step::id));
            assert_eq!(PLAN.results_of(step.id()), step.results());
        }
    }};
}

/// Compares the conditions of an emitted module that reads results and summaries alone with its `PLAN`.
#[macro_export]
macro_rules! check_conditions {
    ($workflow:ident) => {{
        use $workflow::*;
        for step in Step::ALL {
            let table = PLAN.step(step.id());
            for said in [
                table.condition.and_then(|it| it.equality()).map_or("", |it| it.2),
                "nothing that a condition reads",
            ] {
                for it in Step::ALL {
                    for field in [orange_core::plan::Field::Result, orange_core::plan::Field::Summary] {
                        let typed =
                            step.condition_holds(|of, part| ((of, part) == (it, field)).then_some(said));
                        let read = orange_core::plan::StepCondition::equal(it.id(), field, said);
                        assert_eq!(
                            typed,
                            table.condition.is_none_or(|condition| condition == read),
                            "{step}"
                        );
                    }
                }
            }
        }
    }};
}

/// Counter values around the constants of the guards in the tests, in every combination.
pub fn samples<const COUNTERS: usize>() -> impl Iterator<Item = [u32; COUNTERS]> {
    const VALUES: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, u32::MAX];
    (0..VALUES.len().pow(COUNTERS as u32))
        .map(|number| std::array::from_fn(|at| VALUES[number / VALUES.len().pow(at as u32) % VALUES.len()]))
}

/// Every combination of present and absent artifacts of these exit rules.
pub fn subsets<const RULES: usize>(rules: &Range<usize>) -> impl Iterator<Item = [bool; RULES]> + use<RULES> {
    let rules = rules.clone();
    (0..1_u32 << rules.len())
        .map(move |bits| std::array::from_fn(|at| rules.contains(&at) && bits >> (at - rules.start) & 1 == 1))
}
