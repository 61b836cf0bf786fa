//! Purpose of the keys: the list, or something that the person is asked.

use super::effect::Order;
use super::form::NewWorkForm;
use super::offers::RowDeed;
use super::text_field::TextField;

/// Purpose of the keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mode {
    #[default]
    List,
    /// The scrolled text beside the list.
    Details,
    /// Text that the rows have to contain.
    Search(TextField),
    /// A question with yes or no.
    Confirm(Confirm),
    /// A question with a text for an answer.
    Text(TextQuestion),
    Menu(Menu),
    /// A new task or mission.
    Form(Box<NewWorkForm>),
    /// Request of the selected row's agent, in full, with so many lines scrolled away.
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
    /// Orders that follow a yes.
    pub orders: Vec<Order>,
    /// True if they wait for the end of a grace, in which they can be withdrawn.
    pub is_held: bool,
    /// True if the dashboard ends after a yes, and carries out the orders that are held.
    pub quits: bool,
    /// Number of frames that were drawn before it was asked: a key that was pressed before the next one does not answer it.
    pub frames: u64,
}

/// A question with a text for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct TextQuestion {
    /// The question.
    pub question: String,
    /// The answer so far.
    pub field: TextField,
    /// Use of the answer.
    pub use_of: TextUse,
}

/// Use of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum TextUse {
    /// It is the last argument of these orders, which read it from standard input.
    LastWord(Vec<Order>),
    /// It is the standard input of these orders, which go without it if it is empty.
    Feedback(Vec<Order>),
    /// It is the standard input of these orders, as the comment on an answer; they go without it if it is empty.
    Remark(Vec<Order>),
    /// It is a comment on the selected line of the changes.
    Comment,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Menu {
    /// Name of the choice.
    pub title: String,
    pub items: Vec<MenuItem>,
    /// The number of the selected one.
    pub selected: usize,
}

/// An item of a menu.
#[derive(Clone, Debug, PartialEq)]
pub struct MenuItem {
    pub label: String,
    /// Reason why it cannot be chosen.
    pub refusal: Option<String>,
    pub deed: RowDeed,
}
