//! Features that the server tells the client about.

use orange_codegen::editor_lines::Encoding;

use super::{actions, commands, complete, convert, files, pages, structure, wire};

/// The answer to `initialize`.
pub(super) fn initialized(encoding: Encoding) -> wire::InitializeResult {
    let version = Some(env!("CARGO_PKG_VERSION").to_owned());
    wire::InitializeResult {
        capabilities: of_server(encoding),
        server_info: Some(wire::ServerInfo { name: "orange-workflow".to_owned(), version }),
    }
}

fn of_server(encoding: Encoding) -> wire::ServerCapabilities {
    let sync = wire::TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(wire::TextDocumentSyncKind::Incremental),
        save: Some(wire::Save::SaveOptions(wire::SaveOptions { include_text: Some(false) })),
        ..wire::TextDocumentSyncOptions::default()
    };
    wire::ServerCapabilities {
        position_encoding: Some(convert::kind(encoding)),
        text_document_sync: Some(wire::TextDocumentSync::Options(sync)),
        code_action_provider: Some(wire::CodeActionProvider::CodeActionOptions(wire::CodeActionOptions {
            code_action_kinds: Some(actions::kinds()),
            ..wire::CodeActionOptions::default()
        })),
        execute_command_provider: Some(wire::ExecuteCommandOptions {
            commands: commands::ALL.map(str::to_owned).into(),
            ..wire::ExecuteCommandOptions::default()
        }),
        document_symbol_provider: Some(wire::DocumentSymbolProvider::Bool(true)),
        folding_range_provider: Some(wire::FoldingRangeProvider::Bool(true)),
        selection_range_provider: Some(wire::SelectionRangeProvider::Bool(true)),
        document_link_provider: Some(wire::DocumentLinkOptions::default()),
        document_formatting_provider: Some(wire::DocumentFormattingProvider::Bool(true)),
        semantic_tokens_provider: Some(wire::SemanticTokensProvider::SemanticTokensOptions(
            wire::SemanticTokensOptions {
                full: Some(wire::Full::Bool(true)),
                ..wire::SemanticTokensOptions::new(structure::legend(), None, None, Default::default())
            },
        )),
        completion_provider: Some(wire::CompletionOptions {
            trigger_characters: Some(complete::TRIGGERS.map(str::to_owned).into()),
            ..wire::CompletionOptions::default()
        }),
        definition_provider: Some(wire::DefinitionProvider::Bool(true)),
        references_provider: Some(wire::ReferencesProvider::Bool(true)),
        document_highlight_provider: Some(wire::DocumentHighlightProvider::Bool(true)),
        rename_provider: Some(wire::RenameProvider::RenameOptions(wire::RenameOptions {
            prepare_provider: Some(true),
            ..wire::RenameOptions::default()
        })),
        workspace: Some(wire::WorkspaceOptions {
            text_document_content: Some(wire::TextDocumentContent::Options(
                wire::TextDocumentContentOptions { schemes: vec![pages::SCHEME.to_owned()] },
            )),
            file_operations: Some(files::operations()),
            ..wire::WorkspaceOptions::default()
        }),
        call_hierarchy_provider: Some(wire::CallHierarchyProvider::Bool(true)),
        implementation_provider: Some(wire::ImplementationProvider::Bool(true)),
        hover_provider: Some(wire::HoverProvider::Bool(true)),
        inlay_hint_provider: Some(wire::InlayHintProvider::Bool(true)),
        code_lens_provider: Some(wire::CodeLensOptions::default()),
        ..wire::ServerCapabilities::default()
    }
}

/// The best of the encodings that the client knows; one that names none counts in UTF-16.
pub(super) fn encoding(client: &wire::ClientCapabilities) -> Encoding {
    let named = client.general.as_ref().and_then(|it| it.position_encodings.as_deref()).unwrap_or_default();
    match named.contains(&wire::PositionEncodingKind::UTF8) {
        true => Encoding::Utf8,
        false => Encoding::Utf16,
    }
}
