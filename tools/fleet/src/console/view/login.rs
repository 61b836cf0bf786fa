//! Signing in with a token.

use maud::{Markup, html};

use super::forms;

/// The form. `next` is the address that the person wanted, `refused` says that the last token was not accepted.
pub fn content(next: &str, refused: bool) -> Markup {
    html! {
        h1 { "Sign in" }
        @if refused {
            p.message #refused role="alert" {
                "This is not the token of a person. Tokens of crabs do not open the console."
            }
        }
        form.panel method="post" action="/console/login" {
            (forms::hidden("next", next))
            // Programs that keep passwords keep them under a name.
            input type="text" name="name" value="orange" autocomplete="username" hidden;
            p.field {
                label for="token" { "Token" }
                input #token type="password" name="token" required autocomplete="current-password"
                    spellcheck="false" autocapitalize="off" aria-describedby="token-help";
            }
            p.note #token-help {
                "The gateway has made one for its administrator, in the file "
                code { "tokens/admin" }
                " of its folder. "
                code { "orange-fleet token new --person NAME" }
                " makes others."
            }
            p { button type="submit" { "Sign in" } }
        }
    }
}
