//! What the keys are for: the list, or something that the person is asked.

use super::effect::Order;
use super::form::Form;
use super::offers::Deed;
use super::text_field::TextField;

/// What the keys are for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mode {
    #[default]
    List,
    /// The scrolled text beside the list.
    Details,
    /// What the rows have to contain.
    Search(TextField),
    /// A question with yes or no.
    Confirm(Confirm),
    /// A question with a text for an answer.
    Text(TextQuestion),
    Menu(Menu),
    /// A new task or mission.
    Form(Box<Form>),
    /// What the agent of the selected row asks, in full, with so many lines scrolled away.
    Request(usize),
    Help,
    /// The messages in full, with so many lines scrolled away.
    Messages(usize),
}

/// A question with yes or no, before these orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirm {
    /// The question.
    pub question: String,
    /// What follows a yes.
    pub orders: Vec<Order>,
    /// Whether they wait for the end of a grace, in which they can be withdrawn.
    pub is_held: bool,
    /// Whether the dashboard ends after a yes, and carries out what is held.
    pub quits: bool,
    /// How many frames were drawn before it was asked: a key that was pressed before the next one does not answer it.
    pub frames: u64,
}

/// A question with a text for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct TextQuestion {
    /// The question.
    pub question: String,
    /// The answer so far.
    pub field: TextField,
    /// What follows it.
    pub use_of: TextUse,
}

/// What follows a text.
#[derive(Clone, Debug, PartialEq)]
pub enum TextUse {
    /// It is the last argument of these orders, which read it from standard input.
    LastWord(Vec<Order>),
    /// It is the standard input of these orders, which go without it if it is empty.
    Feedback(Vec<Order>),
    /// It is a comment on the selected line of the changes.
    Comment,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Menu {
    /// What is chosen.
    pub title: String,
    pub items: Vec<Item>,
    /// The number of the selected one.
    pub selected: usize,
}

/// An item of a menu.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub label: String,
    /// Why it cannot be chosen.
    pub refusal: Option<String>,
    pub deed: Deed,
}
