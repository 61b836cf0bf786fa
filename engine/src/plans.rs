//! The plans that missions can follow: the compiled-in ones, then the custom ones of the home.

use orange_core::Workflow;
use orange_core::plan::Plan;

use crate::machines::Machines;
use crate::store::suggest;
use crate::{Error, ErrorKind, Result};

impl Machines {
    /// The plan of this workflow; the error suggests the nearest name, or has all findings of a custom one.
    pub fn plan(&self, name: &str) -> Result<&'static Plan<'static>> {
        match self.workflow(name)? {
            Some(Workflow::Plan(plan)) => Ok(plan),
            Some(Workflow::Machine(_)) => {
                let message = format!("`{name}` is a workflow of states, and missions follow steps");
                let plans = self.all()?.into_iter().filter(|it| matches!(it.workflow, Ok(Workflow::Plan(_))));
                let plans: Vec<String> = plans.map(|it| it.name).collect();
                let names: Vec<&str> = plans.iter().map(String::as_str).collect();
                let known = suggest::help(name, &names, "step workflows");
                Err(Error::new(ErrorKind::Refused, message)
                    .help(format!("`orange task create --workflow {name}` makes a task; {known}")))
            }
            None => Err(self.unknown(name, self.built_in.plans.iter().map(|plan| plan.name))),
        }
    }
}

#[cfg(test)]
mod tests {
    use orange_core::plan::Policy;

    use super::*;
    use crate::flow::tests::MACHINES;
    use crate::machines::{CompiledParts, Workflows};
    use crate::store::Home;

    static PLAN: Plan<'static> = Plan {
        name: "two-reviews",
        version: "",
        description: "",
        source_hash: "0",
        policy: Policy::DEFAULT,
        notices: true,
        ..Plan::EMPTY
    };

    static PLANS: &[&Plan<'static>] = &[&PLAN];

    #[track_caller]
    fn check(name: &str, expect: std::result::Result<&str, (ErrorKind, &str)>) {
        let found = machines().plan(name).map(|plan| plan.name);
        let found = found.as_ref().map_err(|error| (error.kind, error.help.as_str())).copied();
        assert_eq!(found, expect, "{name}");
    }

    fn machines() -> Machines {
        let workflows = Workflows { machines: MACHINES, plans: PLANS };
        Machines::new(CompiledParts { workflows, compile: None }, &Home::at("/nowhere"))
    }

    #[test]
    fn a_mission_follows_a_plan_and_no_machine() {
        check("two-reviews", Ok("two-reviews"));
        let help = "`orange task create --workflow test` makes a task; the step workflows are: two-reviews";
        check("test", Err((ErrorKind::Refused, help)));
        let help = "did you mean `two-reviews`?; `cargo xtask build-workflow` builds others in";
        check("two-review", Err((ErrorKind::NotFound, help)));
    }

    #[test]
    fn a_task_follows_a_machine_and_no_plan() {
        let machines = machines();
        assert_eq!(machines.named("two-reviews").unwrap_err().kind, ErrorKind::Refused);
        let listed: Vec<_> = machines.all().unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(listed, ["test", "two-reviews"]);
    }
}
