// A bare server of the Go SDK over HTTP: 2026-07-28 at /mcp, sessions of 2025-11-25 at /sessions.
// Argument: a JSON file with the results to answer with.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type fixture struct {
	Results struct {
		List struct {
			Resources []*mcp.Resource `json:"resources"`
		} `json:"list"`
		Read struct {
			Contents []*mcp.ResourceContents `json:"contents"`
		} `json:"read"`
		Call *mcp.CallToolResult `json:"call"`
	} `json:"results"`
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var answers fixture
	if err := json.Unmarshal(text, &answers); err != nil {
		log.Fatal(err)
	}
	result := &mcp.ReadResourceResult{Contents: answers.Results.Read.Contents}
	read := func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) { return result, nil }
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1.0.0"}, &mcp.ServerOptions{PageSize: 100})
	for _, resource := range answers.Results.List.Resources {
		server.AddResource(resource, read)
	}
	tool := &mcp.Tool{Name: "read", InputSchema: map[string]any{"type": "object"}}
	server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return answers.Results.Call, nil
	})
	same := func(*http.Request) *mcp.Server { return server }
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(same, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	mux.Handle("/sessions", mcp.NewStreamableHTTPHandler(same, nil))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}
