//! Conditions and operands as an author writes them.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{
    Comparison, Field, Literal, Operand, OutputId, Plan, Relation, StepCondition, StepId, StepTest, ValueType,
};

/// Binding strength of an operator: what binds less stands in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Or,
    And,
    Not,
}

impl Plan<'_> {
    /// A condition of this plan as an author writes it.
    pub fn condition_text(&self, condition: &StepCondition<'_>) -> String {
        self.written(condition, Strength::Or)
    }

    fn written(&self, condition: &StepCondition<'_>, within: Strength) -> String {
        let joined = |parts: &[StepCondition<'_>], sign: &str, strength: Strength| {
            let parts: Vec<String> = parts.iter().map(|it| self.written(it, strength)).collect();
            let text = parts.join(sign);
            if strength < within { format!("({text})") } else { text }
        };
        match condition {
            StepCondition::Or(parts) => joined(parts, " || ", Strength::Or),
            StepCondition::And(parts) => joined(parts, " && ", Strength::And),
            StepCondition::Not(StepCondition::Test(test)) if !test.stands_alone() => {
                format!("!({})", self.test_text(test))
            }
            StepCondition::Not(part) => format!("!{}", self.written(part, Strength::Not)),
            StepCondition::Test(test) => self.test_text(test),
        }
    }

    /// A test as an author writes it.
    pub fn test_text(&self, test: &StepTest<'_>) -> String {
        let items = test.items.map_or_else(String::new, |it| format!("{} ", it.as_str()));
        let of = self.operand_text(test.of);
        match test.is {
            Comparison::Is(..) if test.stands_alone() => format!("{items}{of}"),
            Comparison::Is(relation, literal) => {
                format!("{items}{of} {} {}", relation.as_str(), literal.text())
            }
            Comparison::In(words) => format!("{items}{of} in {}", Literal::List(words).text()),
            Comparison::Has(word) => format!("{items}'{word}' in {of}"),
        }
    }

    /// An operand as an author writes it: `review.result`, `inputs.target`.
    pub fn operand_text(&self, operand: Operand) -> String {
        match operand {
            Operand::Step(step, field) => {
                format!("{}.{}", self.step(step).id, self.field_name(step, field))
            }
            Operand::Input(input) => self
                .inputs
                .get(input.index())
                .map_or_else(|| "inputs.?".to_owned(), |it| format!("inputs.{}", it.name)),
        }
    }
}

impl<'a> Plan<'a> {
    /// Text below the prompt of an agent about the outputs that its step reports; empty where it has none.
    pub fn outputs_text(&self, id: StepId) -> String {
        let outputs = self.outputs_of(id);
        if outputs.is_empty() {
            return String::new();
        }
        let mut text = String::from(
            "\n\n# Outputs\n\nReport all of these when the step is complete, each as an option of `orange step complete`:\n\n",
        );
        for output in outputs {
            let repeated = match output.kind {
                ValueType::List { .. } => ", once for each item",
                ValueType::Words(_) | ValueType::Text | ValueType::Number { .. } | ValueType::Bool => "",
            };
            let (name, values) = (output.name, output.kind.values());
            text.push_str(&format!("- `--output {name}=VALUE`{repeated}: {values}\n"));
        }
        text.push_str("\n`--outputs -` reads them as a JSON object from standard input instead.\n");
        text
    }

    /// Name of a field of a step.
    pub fn field_name(&self, step: StepId, field: Field) -> &'a str {
        let output = |it: OutputId| self.outputs_of(step).get(it.index()).map_or("?", |it| it.name);
        match field {
            Field::Output(it) => output(it),
            Field::Result | Field::Summary | Field::Ran | Field::Rounds => field.word().unwrap_or("?"),
        }
    }
}

impl Field {
    /// The fields that every step has, by name.
    pub const OF_ALL: [(&'static str, Field); 4] = [
        ("result", Field::Result),
        ("summary", Field::Summary),
        ("ran", Field::Ran),
        ("rounds", Field::Rounds),
    ];

    /// Its name in conditions; `None` of an output, whose name its step declares.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Field::Result => Some("result"),
            Field::Summary => Some("summary"),
            Field::Ran => Some("ran"),
            Field::Rounds => Some("rounds"),
            Field::Output(_) => None,
        }
    }
}

impl StepTest<'_> {
    /// True of a yes or no that is written without a comparison.
    fn stands_alone(&self) -> bool {
        self.is == Comparison::Is(Relation::Equal, Literal::Bool(true))
    }
}
