//! A bare server of the Rust SDK, rmcp, over HTTP: 2026-07-28 at /mcp, sessions of 2025-11-25 at /sessions.
//! Argument: a JSON file with the results to answer with.
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    results: Results,
}

#[derive(Deserialize)]
struct Results {
    list: ListResourcesResult,
    read: ReadResourceResult,
    call: CallToolResult,
}

#[derive(Clone)]
struct Bare(Arc<Results>);

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_resources().enable_tools().build())
            .with_server_info(Implementation::new("bare", "1.0.0"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(self.0.list.clone())
    }

    async fn read_resource(
        &self,
        _: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(self.0.read.clone().into())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.0.call.clone().into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(std::env::args().nth(1).ok_or("There is no file to answer with")?)?;
    let mut results = serde_json::from_str::<Fixture>(&text)?.results;
    results.list.result_type = Some(ResultType::COMPLETE);
    results.read.result_type = Some(ResultType::COMPLETE);
    results.call.result_type = Some(ResultType::COMPLETE);
    let bare = Bare(Arc::new(results));
    let serving = |sessions: bool| {
        let bare = bare.clone();
        let config =
            StreamableHttpServerConfig::default().with_legacy_session_mode(sessions).with_json_response(!sessions);
        StreamableHttpService::new(move || Ok(bare.clone()), Arc::new(LocalSessionManager::default()), config)
    };
    let (modern, sessions) = (serving(false), serving(true));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (modern, sessions) = (modern.clone(), sessions.clone());
        let answer = service_fn(move |request: Request<Incoming>| {
            let service = if request.uri().path() == "/sessions" { sessions.clone() } else { modern.clone() };
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}
