//! A server on the Rust SDK, rmcp: over stdio, or with the argument `http` over Streamable HTTP, at the address that it prints.
//! It speaks both revisions, gives two entries a page, tells of changes, and asks the user in the way of each.
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};
use tokio::sync::watch;

const PAGE: usize = 2;
const COUNTER: &str = "tray:///counter";
const TEMPLATE: &str = "tray:///drawers/{drawer}";
const DRAWERS: [&str; 3] = ["dials", "gears", "springs"];
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// One for all sessions: how often the counter was changed.
#[derive(Clone)]
struct Tray {
    touched: Arc<watch::Sender<u64>>,
    /// Watched from before a subscription is acknowledged: a change right after that is told as well.
    accepted: Arc<Mutex<Vec<watch::Receiver<u64>>>>,
}

fn icons() -> Value {
    json!([{ "src": format!("data:image/png;base64,{PIXEL}"), "mimeType": "image/png", "sizes": ["1x1"] }])
}

fn resources() -> Value {
    json!([
        {
            "uri": "urn:tray:1", "name": "opaque", "title": "A URI without a path", "mimeType": "text/plain", "size": 5,
            "annotations": { "audience": ["user"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z" },
            "icons": icons(), "_meta": { "example.org/tray": { "row": 3 } },
        },
        { "uri": "tray:///pixel.png", "name": "pixel", "mimeType": "image/png" },
        { "uri": "tray:///odd/a%20b%2Fc%23d?order=title", "name": "odd name" },
        { "uri": COUNTER, "name": "counter", "description": "How often it was touched", "mimeType": "text/plain" },
        { "uri": "tray:///pair", "name": "two parts" },
    ])
}

fn tools() -> Value {
    let object = json!({ "type": "object", "properties": {} });
    let drawer = json!({ "type": "object", "properties": { "drawer": { "type": "string" } }, "required": ["drawer"] });
    json!([
        {
            "name": "open", "title": "Open a drawer", "description": "Links to a drawer, and embeds it.", "icons": icons(),
            "inputSchema": drawer, "annotations": { "readOnlyHint": true }, "_meta": { "example.org/tool": true },
            "outputSchema": { "type": "object", "properties": { "drawer": { "type": "string" } }, "required": ["drawer"] },
        },
        { "name": "touch", "description": "Changes the counter.", "inputSchema": object },
        { "name": "ask", "description": "Asks the user for a name.", "inputSchema": object },
        { "name": "fail", "description": "Always fails.", "inputSchema": object },
    ])
}

/// The contents of a URI. Templates are those with a drawer.
fn contents(uri: &str, touched: u64) -> Option<Value> {
    let text = |text: &str| json!([{ "uri": uri, "mimeType": "text/plain", "text": text }]);
    Some(match uri {
        "urn:tray:1" => {
            json!([{ "uri": uri, "mimeType": "text/plain", "text": "brass", "_meta": { "example.org/part": 1 } }])
        }
        "tray:///pixel.png" => json!([{ "uri": uri, "mimeType": "image/png", "blob": PIXEL }]),
        "tray:///odd/a%20b%2Fc%23d?order=title" => text("a b/c#d"),
        "tray:///pair" => json!([
            { "uri": uri, "text": "a caption" },
            { "uri": "tray:///pixel.png", "mimeType": "image/png", "blob": PIXEL },
        ]),
        COUNTER => text(&touched.to_string()),
        _ => {
            let drawer = uri.strip_prefix("tray:///drawers/")?;
            text(&format!("{} {}", 12, DRAWERS.iter().find(|each| **each == drawer)?))
        }
    })
}

/// A page of entries, and where the next one begins.
fn page(all: Value, field: &str, asked: Option<PaginatedRequestParams>) -> Result<Value, ErrorData> {
    let all: Vec<Value> = made(all);
    let from: usize = match asked.and_then(|each| each.cursor) {
        None => 0,
        Some(cursor) => {
            cursor.parse().map_err(|_| ErrorData::invalid_params("This cursor is none of this list", None))?
        }
    };
    let entries: Vec<_> = all.iter().skip(from).take(PAGE).collect();
    let mut result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", field: entries });
    if from + PAGE < all.len() {
        result["nextCursor"] = json!((from + PAGE).to_string());
    }
    Ok(result)
}

fn made<T: DeserializeOwned>(value: Value) -> T {
    from_value(value).expect("it is what it has to be")
}

fn question() -> ElicitRequestParams {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    made(json!({ "mode": "form", "message": "Who opens the tray?", "requestedSchema": schema }))
}

fn said(answer: &Value) -> CallToolResult {
    let name = answer["content"]["name"].as_str().unwrap_or("nobody");
    let text = format!("{name}: {}", answer["action"].as_str().unwrap_or("none"));
    CallToolResult::success(vec![ContentBlock::text(text)])
}

impl ServerHandler for Tray {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::default();
        capabilities.resources = Some(made(json!({ "subscribe": true })));
        capabilities.tools = Some(made(json!({})));
        capabilities.prompts = Some(made(json!({})));
        capabilities.completions = Some(made(json!({})));
        let who = Implementation::new("tray", "1.0.0");
        ServerConfig::new(capabilities).with_server_info(who).with_instructions("Drawers to open.")
    }

    async fn list_resources(
        &self,
        asked: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        page(resources(), "resources", asked).map(made)
    }

    async fn list_resource_templates(
        &self,
        asked: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template =
            json!({ "uriTemplate": TEMPLATE, "name": "a drawer", "mimeType": "text/plain", "icons": icons() });
        page(json!([template]), "resourceTemplates", asked).map(made)
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = contents(&asked.uri, *self.touched.borrow()).ok_or_else(|| {
            ErrorData::resource_not_found("It is not in this tray", Some(json!({ "uri": asked.uri })))
        })?;
        Ok(made::<ReadResourceResult>(json!({ "resultType": "complete", "contents": found })).into())
    }

    async fn list_tools(
        &self,
        asked: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        page(tools(), "tools", asked).map(made)
    }

    async fn call_tool(
        &self,
        asked: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(asked.arguments.unwrap_or_default());
        let result = match asked.name.as_ref() {
            "open" => {
                let drawer =
                    arguments["drawer"].as_str().ok_or_else(|| ErrorData::invalid_params("Which drawer?", None))?;
                let uri = format!("tray:///drawers/{drawer}");
                let mut embedded =
                    contents(&uri, 0).ok_or_else(|| ErrorData::invalid_params("There is no such drawer", None))?;
                json!({
                    "resultType": "complete",
                    "content": [
                        { "type": "resource_link", "uri": uri, "name": drawer, "mimeType": "text/plain" },
                        { "type": "resource", "resource": embedded[0].take() },
                        { "type": "image", "data": PIXEL, "mimeType": "image/png" },
                    ],
                    "structuredContent": { "drawer": drawer }, "_meta": { "example.org/due": "2026-12-31" },
                })
            }
            "touch" => {
                self.touched.send_modify(|times| *times += 1);
                json!({ "resultType": "complete", "content": [{ "type": "text", "text": "touched" }] })
            }
            "ask" => return self.ask(asked.input_responses, context).await,
            "fail" => {
                json!({ "resultType": "complete", "isError": true, "content": [{ "type": "text", "text": "The tray fell down." }] })
            }
            other => return Err(ErrorData::invalid_params(format!("There is no tool {other}"), None)),
        };
        Ok(made::<CallToolResult>(result).into())
    }

    async fn list_prompts(
        &self,
        asked: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = json!({
            "name": "describe", "title": "Describe a drawer", "icons": icons(),
            "arguments": [{ "name": "drawer", "description": "Its name", "required": true }],
        });
        page(json!([prompt]), "prompts", asked).map(made)
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let drawer =
            asked.arguments.as_ref().and_then(|each| each.get("drawer")).and_then(Value::as_str).unwrap_or_default();
        let found = contents(&format!("tray:///drawers/{drawer}"), 0).filter(|_| asked.name == "describe");
        let mut embedded = found.ok_or_else(|| ErrorData::invalid_params("There is no such prompt or drawer", None))?;
        Ok(made::<GetPromptResult>(json!({ "resultType": "complete", "messages": [
            { "role": "user", "content": { "type": "text", "text": format!("Describe the {drawer}.") } },
            { "role": "user", "content": { "type": "resource", "resource": embedded[0].take() } },
        ] }))
        .into())
    }

    async fn complete(
        &self,
        asked: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let known = [Reference::for_prompt("describe"), Reference::for_resource(TEMPLATE)];
        if !known.contains(&asked.r#ref) || asked.argument.name != "drawer" {
            return Err(ErrorData::invalid_params("There is nothing to complete there", None));
        }
        let values = DRAWERS.iter().filter(|each| each.starts_with(&asked.argument.value)).map(|each| each.to_string());
        let info = CompletionInfo::with_all_values(values.collect())
            .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }

    #[allow(deprecated)]
    async fn subscribe(
        &self,
        asked: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut changed = self.touched.subscribe();
        tokio::spawn(async move {
            while asked.uri == COUNTER && changed.changed().await.is_ok() {
                let told = ResourceUpdatedNotificationParam::new(&asked.uri);
                if context.peer.notify_resource_updated(told).await.is_err() {
                    break;
                }
            }
        });
        Ok(())
    }

    #[allow(deprecated)]
    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.accepted.lock().expect("nobody panics with it").push(self.touched.subscribe());
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = self.accepted.lock().expect("nobody panics with it").pop();
        let mut changed = accepted.unwrap_or_else(|| self.touched.subscribe());
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(()) = changed.changed() => {
                    // Who did not subscribe to it is not told.
                    let _ = context.sink().notify_resource_updated(COUNTER).await;
                }
            }
        }
    }
}

impl Tray {
    /// By a request to the client in 2025, and by a result that wants an answer from 2026-07-28 on.
    async fn ask(
        &self,
        answers: Option<InputResponses>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if context.protocol_version() != Some(ProtocolVersion::V_2026_07_28) {
            let answer = context.peer.create_elicitation(question()).await;
            let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            return Ok(said(&json!(answer)).into());
        }
        if let Some(answer) = answers.as_ref().and_then(|each| each.get("who")) {
            return Ok(said(answer).into());
        }
        let asked = InputRequest::Elicitation(ElicitRequest::new(question()));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([("who".into(), asked)])), Some("asked".into())).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let tray = Tray { touched: Arc::new(watch::Sender::new(0)), accepted: Arc::default() };
    if std::env::args().nth(1).as_deref() != Some("http") {
        tray.serve(stdio()).await?.waiting().await?;
        return Ok(());
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(tray.clone()), sessions, StreamableHttpServerConfig::default());
    loop {
        let (stream, _) = listener.accept().await?;
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(stream), TowerToHyperService::new(service.clone()));
        tokio::spawn(connection);
    }
}
