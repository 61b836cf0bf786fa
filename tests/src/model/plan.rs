//! The plan of a scripted model in a conversation: a list of acts, and the texts that identify the conversation.

use serde_json::Value;

/// One act of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelAct {
    /// Run a command in the shell.
    Run(String),
    /// Run a command in the shell outside of the sandbox, for which the harness asks a person.
    Asking(String),
    /// Run `orange`, by its name in the prompt, with these arguments.
    Orange(String),
    /// Run the command in the prompt with this beginning, up to the end of its line or to a dash.
    Quoted(String),
    /// Read a file, by its path in the worktree.
    Read(String),
    /// Write a whole file.
    Write {
        /// Its path in the worktree.
        path: String,
        /// The new contents.
        text: String,
    },
    /// Replace one text in a file by another.
    Edit {
        /// Its path in the worktree.
        path: String,
        /// The old text, which occurs once.
        old: String,
        /// The new text.
        new: String,
    },
    /// Write a whole file: its contents as last read, followed by this text.
    Append {
        /// Its path in the worktree.
        path: String,
        /// The text to add.
        text: String,
    },
    /// Edit a file: add this text after its last line, as it was last read.
    Extend {
        /// Its path in the worktree.
        path: String,
        /// The text to add.
        text: String,
    },
    /// Call a tool of the harness, or of a server of the Model Context Protocol.
    Tool {
        /// Its name.
        name: String,
        /// Its input.
        input: Value,
    },
    /// Say something and leave the turn to the person.
    Say(String),
    /// Give no answer until the gate of this name is opened.
    Hold(String),
    /// Fail this many requests in this way, and continue with the next act.
    Fail(RequestFault, u32),
}

/// Failure of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// 429, with the seconds of `retry-after`.
    RateLimit(u32),
    /// 529, or 503 if the protocol has no such status.
    Overloaded,
    /// 429 for an account that has reached its limit, with the seconds until it ends. Retries are useless.
    UsedUp(u32),
    /// An answer that ends in the middle of its stream.
    Dropped,
    /// 400: the conversation is longer than the context window.
    TooLong,
}

/// The acts of one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Texts that all occur in its first message.
    pub prompt: Vec<String>,
    /// Texts that all occur in the person's messages of the same conversation.
    pub conversation: Vec<String>,
    /// The acts, in order. After the last one the model says that everything is done.
    pub acts: Vec<ModelAct>,
}

impl Plan {
    /// A plan for the conversation whose newest recognised message has all of these texts.
    pub fn new(prompt: &[&str], acts: Vec<ModelAct>) -> Plan {
        Plan { prompt: owned(prompt), conversation: Vec::new(), acts }
    }

    /// Limits the plan to a conversation that has these texts, too.
    #[must_use]
    pub fn within(mut self, conversation: &[&str]) -> Plan {
        self.conversation = owned(conversation);
        self
    }

    /// The index of the newest message that begins this plan.
    pub(super) fn begins_at(&self, messages: &[String]) -> Option<usize> {
        let all = messages.concat();
        let is_within = self.conversation.iter().all(|text| all.contains(text));
        let begins = |message: &String| self.prompt.iter().all(|text| message.contains(text));
        messages.iter().rposition(begins).filter(|_| is_within)
    }
}

impl ModelAct {
    /// Run a command in the shell.
    pub fn run(command: impl Into<String>) -> ModelAct {
        ModelAct::Run(command.into())
    }

    /// Run a command in the shell, and ask a person before.
    pub fn asking(command: impl Into<String>) -> ModelAct {
        ModelAct::Asking(command.into())
    }

    /// Run `orange` as the prompt says.
    pub fn orange(arguments: impl Into<String>) -> ModelAct {
        ModelAct::Orange(arguments.into())
    }

    /// Run a command of the prompt.
    pub fn quoted(begin: &str) -> ModelAct {
        ModelAct::Quoted(begin.to_owned())
    }

    /// Read a file.
    pub fn read(path: &str) -> ModelAct {
        ModelAct::Read(path.to_owned())
    }

    /// Write a whole file.
    pub fn write(path: &str, text: impl Into<String>) -> ModelAct {
        ModelAct::Write { path: path.to_owned(), text: text.into() }
    }

    /// Replace a text in a file.
    pub fn edit(path: &str, old: &str, new: impl Into<String>) -> ModelAct {
        ModelAct::Edit { path: path.to_owned(), old: old.to_owned(), new: new.into() }
    }

    /// Write a file whole, with this at its end.
    pub fn append(path: &str, text: impl Into<String>) -> ModelAct {
        ModelAct::Append { path: path.to_owned(), text: text.into() }
    }

    /// Edit a file so that this is at its end.
    pub fn extend(path: &str, text: impl Into<String>) -> ModelAct {
        ModelAct::Extend { path: path.to_owned(), text: text.into() }
    }

    /// Call a tool.
    pub fn tool(name: &str, input: Value) -> ModelAct {
        ModelAct::Tool { name: name.to_owned(), input }
    }

    /// Say something.
    pub fn say(text: impl Into<String>) -> ModelAct {
        ModelAct::Say(text.into())
    }

    /// The act with the command from the prompt.
    pub(super) fn resolved(&self, prompt: &str) -> ModelAct {
        match self {
            ModelAct::Orange(arguments) => ModelAct::Run(format!("{} {arguments}", orange_of(prompt))),
            ModelAct::Quoted(begin) => {
                let rest = prompt.split_once(begin.as_str()).map_or("", |(_, rest)| rest);
                let is_over = |letter: char| "\n`—(".contains(letter);
                ModelAct::Run(format!("{begin}{}", rest.split(is_over).next().unwrap_or_default().trim_end()))
            }
            ModelAct::Run(_)
            | ModelAct::Asking(_)
            | ModelAct::Read(_)
            | ModelAct::Write { .. }
            | ModelAct::Edit { .. }
            | ModelAct::Append { .. }
            | ModelAct::Extend { .. }
            | ModelAct::Tool { .. }
            | ModelAct::Say(_)
            | ModelAct::Hold(_)
            | ModelAct::Fail(..) => self.clone(),
        }
    }

    /// Wait at a gate.
    pub fn hold(gate: &str) -> ModelAct {
        ModelAct::Hold(gate.to_owned())
    }
}

/// Command by which a prompt calls `orange`: its name, or its path.
fn orange_of(prompt: &str) -> &str {
    let is_over = |letter: char| letter.is_whitespace() || "`'\"(".contains(letter);
    let before = prompt.rmatch_indices(" task update").map(|(place, _)| &prompt[..place]);
    let words = before.filter_map(|before| before.rsplit(is_over).next());
    words.into_iter().find(|word| word.ends_with("orange")).unwrap_or("orange")
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
