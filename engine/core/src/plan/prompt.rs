//! Prompts of steps, with placeholders that are filled in once.

use alloc::string::{String, ToString};

use super::Operand;

/// The prompt of one step, split into pieces at compile time. Values are data: they are never searched for placeholders.
#[derive(Clone, Copy, Debug)]
pub struct StepPrompt<'a> {
    /// Text and placeholders, in order.
    pub pieces: &'a [StepPiece<'a>],
}

/// A part of the prompt of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPiece<'a> {
    /// Literal text.
    Text(&'a str),
    /// A placeholder.
    Value(StepValue),
    /// `{{inputs.target}}`, `{{plan.risk}}`: a value that the mission has.
    Read(Operand),
}

/// The value that a placeholder names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepValue {
    /// `{{mission_prompt}}`: what the start of the mission asks for.
    MissionPrompt,
    /// `{{worktree_path}}`
    WorktreePath,
    /// `{{context}}`: the summaries of the dependencies.
    Context,
    /// `{{step}}`: the step's id.
    Step,
    /// `{{attempt}}`: the number of the attempt.
    Attempt,
    /// `{{branch}}`
    Branch,
    /// `{{base}}`: the commit with which the branch's work is compared.
    Base,
    /// `{{item}}`: the element of the list of a fan-out.
    Item,
}

impl StepValue {
    /// Every placeholder.
    pub const ALL: [StepValue; 8] = [
        StepValue::MissionPrompt,
        StepValue::WorktreePath,
        StepValue::Context,
        StepValue::Step,
        StepValue::Attempt,
        StepValue::Branch,
        StepValue::Base,
        StepValue::Item,
    ];

    /// The word between the braces.
    pub const fn name(self) -> &'static str {
        match self {
            StepValue::MissionPrompt => "mission_prompt",
            StepValue::WorktreePath => "worktree_path",
            StepValue::Context => "context",
            StepValue::Step => "step",
            StepValue::Attempt => "attempt",
            StepValue::Branch => "branch",
            StepValue::Base => "base",
            StepValue::Item => "item",
        }
    }
}

/// The values of the placeholders for one attempt.
#[derive(Clone, Copy, Debug)]
pub struct StepValues<'v> {
    /// `{{mission_prompt}}`
    pub mission_prompt: &'v str,
    /// `{{worktree_path}}`
    pub worktree_path: &'v str,
    /// `{{context}}`
    pub context: &'v str,
    /// `{{step}}`
    pub step: &'v str,
    /// `{{attempt}}`
    pub attempt: u32,
    /// `{{branch}}`
    pub branch: &'v str,
    /// `{{base}}`
    pub base: &'v str,
    /// `{{item}}`; empty of a step without items.
    pub item: &'v str,
    /// Values of the operands of the prompt, as [`Mission::reads`](crate::mission::Mission::reads) finds it.
    pub reads: &'v [(Operand, String)],
}

impl StepPrompt<'_> {
    /// True if the prompt uses this value.
    pub fn has(&self, value: StepValue) -> bool {
        self.pieces.contains(&StepPiece::Value(value))
    }

    /// The text with the values of one attempt.
    pub fn fill(&self, values: &StepValues<'_>) -> String {
        let mut text = String::new();
        for piece in self.pieces {
            match piece {
                StepPiece::Text(literal) => text.push_str(literal),
                StepPiece::Value(StepValue::MissionPrompt) => text.push_str(values.mission_prompt),
                StepPiece::Value(StepValue::WorktreePath) => text.push_str(values.worktree_path),
                StepPiece::Value(StepValue::Context) => text.push_str(values.context),
                StepPiece::Value(StepValue::Step) => text.push_str(values.step),
                StepPiece::Value(StepValue::Attempt) => text.push_str(&values.attempt.to_string()),
                StepPiece::Value(StepValue::Branch) => text.push_str(values.branch),
                StepPiece::Value(StepValue::Base) => text.push_str(values.base),
                StepPiece::Value(StepValue::Item) => text.push_str(values.item),
                StepPiece::Read(operand) => {
                    let value = values.reads.iter().find(|(it, _)| it == operand);
                    text.push_str(value.map_or("", |(_, it)| it));
                }
            }
        }
        text
    }

    /// The prompt for one attempt. A context that no placeholder takes follows under `# Context`.
    pub fn render(&self, values: &StepValues<'_>) -> String {
        let mut text = self.fill(values);
        if !self.has(StepValue::Context) && !values.context.is_empty() {
            let end = text.trim_end().len();
            text.truncate(end);
            text.push_str("\n\n# Context\n\n");
            text.push_str(values.context);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: StepValues<'static> = StepValues {
        mission_prompt: "{{branch}} $(touch x)",
        worktree_path: "/w",
        context: "## plan\n{{step}}\n",
        step: "fix",
        attempt: 2,
        branch: "b",
        base: "1f2e",
        item: "{{base}}",
        reads: &[],
    };

    #[test]
    fn values_are_data_and_never_substituted_again() {
        let pieces = StepValue::ALL.map(|value| [StepPiece::Value(value), StepPiece::Text("|")]).concat();
        let text = StepPrompt { pieces: &pieces }.render(&VALUES);
        assert_eq!(text, "{{branch}} $(touch x)|/w|## plan\n{{step}}\n|fix|2|b|1f2e|{{base}}|");
    }

    #[test]
    fn an_input_stands_in_the_prompt_as_it_is() {
        let input = Operand::Input(crate::plan::InputId(1));
        let prompt = StepPrompt { pieces: &[StepPiece::Text("for "), StepPiece::Read(input)] };
        let reads = [(input, "{{step}}".to_string())];
        assert_eq!(prompt.render(&StepValues { context: "", reads: &reads, ..VALUES }), "for {{step}}");
    }

    #[test]
    fn a_context_that_no_placeholder_takes_is_appended() {
        let prompt = StepPrompt { pieces: &[StepPiece::Text("Do it.\n")] };
        assert_eq!(prompt.render(&VALUES), "Do it.\n\n# Context\n\n## plan\n{{step}}\n");
        assert_eq!(prompt.render(&StepValues { context: "", ..VALUES }), "Do it.\n");
    }
}
