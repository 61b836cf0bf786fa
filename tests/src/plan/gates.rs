//! Gates as they are written.

use std::fmt::{self, Display};

use super::{Outside, PlannedGate};

impl Display for PlannedGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outside {
            Some(Outside::Command(argv)) => return write!(f, "{{command: {{argv: {argv:?}, timeout: 60}}}}"),
            Some(Outside::Checks) => return write!(f, "{{checks: green}}"),
            Some(Outside::Children { some: true }) => return write!(f, "{{children: some}}"),
            Some(Outside::Children { some: false }) => return write!(f, "{{children: none}}"),
            None => {}
        }
        write!(f, "{{section: \"{}\"", self.section)?;
        if self.required {
            write!(f, ", required: true")?;
        }
        if let Some(verdict) = self.verdict {
            write!(f, ", verdict: {verdict}")?;
        }
        if self.strict {
            write!(f, ", strict: true")?;
        }
        if !self.fields.is_empty() {
            let names = self.fields.join(", ");
            match self.every_field {
                true => write!(f, ", fields: {{all: [{names}]}}")?,
                false => write!(f, ", fields: [{names}]")?,
            }
        }
        if self.fresh {
            write!(f, ", fresh: true")?;
        }
        self.of.map_or(Ok(()), |of| write!(f, ", of: {of}"))?;
        if !self.written_by.is_empty() {
            write!(f, ", written_by: [{}]", self.written_by.join(", "))?;
        }
        write!(f, "}}")
    }
}
