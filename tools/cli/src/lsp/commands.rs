//! `workspace/executeCommand`: the commands that the server carries out, each of which shows a page.

use lsp_server::{Notification, Request};

use super::later::{LateAnswer, Work};
use super::pages::{self, Page, WorkflowPage};
use super::requests::Refusal;
use super::view::View;
use super::wire::{self, Notification as _, Request as _};

/// Shows the page of this address.
pub(super) const SHOW_PAGE: &str = "orange.showPage";

/// Shows the page of a check.
pub(super) const EXPLAIN: &str = "orange.explain";

/// Shows the changes of a workflow since the last commit.
pub(super) const SHOW_CHANGES: &str = "orange.showChanges";

/// A command of the client: runs a workflow in a terminal.
pub(super) const SIMULATE: &str = "orange.simulate";

/// The commands that the server carries out.
pub(super) const ALL: [&str; 3] = [SHOW_PAGE, EXPLAIN, SHOW_CHANGES];

pub(super) fn answer(
    view: &View<'_>,
    params: wire::ExecuteCommandParams,
) -> Result<Work<Option<wire::LspAny>>, Refusal> {
    let argument = params.arguments.iter().flatten().next().and_then(wire::LspAny::as_str);
    let argument = argument.ok_or_else(|| Refusal(format!("`{}` takes one text", params.command)));
    let page = match params.command.as_str() {
        SHOW_PAGE => Page::at(argument?)?,
        EXPLAIN => Page::Check(crate::levels::find(argument?).map_err(Refusal)?),
        SHOW_CHANGES => Page::Workflow(WorkflowPage::Changes, wire::Uri::from(argument?.to_owned())),
        other => return Err(Refusal(format!("`{other}` is not a command of this server"))),
    };
    let (text, shows_pages) = (pages::text(view, &page)?, shows_pages(view));
    Ok(Box::new(move |stop| {
        let text = text(stop)?;
        let shown = match shows_pages {
            true => {
                let uri = wire::Uri::from(page.address());
                let params = wire::ShowDocumentParams::new(uri, Some(false), Some(true), None);
                // No other request of the server has the address of a page as its number.
                let id = format!("show {}", page.address()).into();
                Request::new(id, wire::ShowDocumentRequest::METHOD.as_str().to_owned(), params).into()
            }
            false => {
                let params = wire::ShowMessageParams { kind: wire::MessageType::Info, message: text.clone() };
                Notification::new(wire::ShowMessageNotification::METHOD.as_str().to_owned(), params).into()
            }
        };
        Ok(LateAnswer { result: Some(wire::LspAny::from(text)), before: vec![shown] })
    }))
}

/// True if the client shows documents, and asks the server for the text of pages.
fn shows_pages(view: &View<'_>) -> bool {
    let client = view.client;
    let shows = client.window.as_ref().and_then(|it| it.show_document.as_ref());
    let asks = client.workspace.as_ref().is_some_and(|it| it.text_document_content.is_some());
    shows.is_some_and(|it| it.support) && (asks || view.checks.rules().asks_for_pages)
}
