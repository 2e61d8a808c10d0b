// A client on the Go SDK. It takes a plan (../index.ts) as its argument, follows it, and prints a line of JSON for each step.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type plan struct {
	Revision string         `json:"revision"`
	URL      string         `json:"url"`
	Command  string         `json:"command"`
	Args     []string       `json:"args"`
	Text     string         `json:"text"`
	Binary   string         `json:"binary"`
	Template string         `json:"template"`
	Watched  string         `json:"watched"`
	Search   map[string]any `json:"search"`
	Guarded  string         `json:"guarded"`
	Asking   string         `json:"asking"`
	Tries    int            `json:"tries"`
	Prompt   struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	} `json:"prompt"`
	Argument mcp.CompleteParamsArgument `json:"argument"`
}

type said map[string]any

func say(step string, what said) {
	line := said{"step": step}
	maps.Copy(line, what)
	text, err := json.Marshal(line)
	must(err)
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func got[T any](value T, err error) T {
	must(err)
	return value
}

func textOf(blocks ...mcp.Content) string {
	var parts []string
	for _, block := range blocks {
		switch each := block.(type) {
		case *mcp.TextContent:
			parts = append(parts, each.Text)
		case *mcp.EmbeddedResource:
			parts = append(parts, each.Resource.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func main() {
	var p plan
	must(json.Unmarshal([]byte(os.Args[1]), &p))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	questions := make(chan string, 10)
	updates := make(chan string, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			questions <- request.Params.Message
			if strings.Contains(request.Params.Message, p.Guarded) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
			}
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
		ResourceUpdatedHandler: func(_ context.Context, request *mcp.ResourceUpdatedNotificationRequest) {
			select {
			case updates <- request.Params.URI:
			default:
			}
		},
	})
	asked := func() []string {
		all := []string{}
		for len(questions) > 0 {
			all = append(all, <-questions)
		}
		return all
	}
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: p.URL}
	if p.URL == "" {
		command := exec.Command(p.Command, p.Args...)
		command.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: command}
	}
	session := got(client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: p.Revision}))
	began := session.InitializeResult()
	say("connect", said{"revision": began.ProtocolVersion, "server": began.ServerInfo.Name})

	var uris []string
	pages := 0
	for cursor, more := "", true; more; more = cursor != "" {
		page := got(session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor}))
		for _, resource := range page.Resources {
			uris = append(uris, resource.URI)
		}
		pages++
		cursor = page.NextCursor
	}
	say("list", said{"uris": uris, "pages": pages})

	names := func() []string {
		var all []string
		for tool, err := range session.Tools(ctx, nil) {
			must(err)
			all = append(all, tool.Name)
		}
		return all
	}
	say("tools", said{"names": names()})

	read := func(uri string) *mcp.ResourceContents {
		return got(session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})).Contents[0]
	}
	say("text", said{"text": read(p.Text).Text})
	say("binary", said{"base64": read(p.Binary).Blob})
	for template, err := range session.ResourceTemplates(ctx, nil) {
		must(err)
		if template.URITemplate == p.Template {
			say("template", said{"text": read(strings.Replace(template.URITemplate, "{resourceId}", "7", 1)).Text})
		}
	}

	must(session.Subscribe(ctx, &mcp.SubscribeParams{URI: p.Watched}))
	say("subscribed", nil)
	select {
	case uri := <-updates:
		say("updated", said{"uri": uri})
	case <-ctx.Done():
		log.Fatal("no update came")
	}
	must(session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: p.Watched}))

	call := func(name string, arguments map[string]any) string {
		return textOf(got(session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})).Content...)
	}
	say("read", said{"text": call("read", said{"uri": p.Text, "as": "plain"})})
	say("search", said{"text": call("search", p.Search)})
	say("asked", said{"text": call("read", said{"uri": p.Guarded, "as": "plain"}), "questions": asked()})
	for tries := 0; tries < p.Tries && !slices.Contains(names(), p.Asking); tries++ {
		time.Sleep(100 * time.Millisecond)
	}
	say("stranger asked", said{"text": call(p.Asking, said{}), "questions": asked()})

	prompt := got(session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Prompt.Name, Arguments: p.Prompt.Arguments}))
	blocks := []mcp.Content{}
	for _, message := range prompt.Messages {
		blocks = append(blocks, message.Content)
	}
	say("prompt", said{"text": textOf(blocks...)})
	reference := &mcp.CompleteReference{Type: "ref/prompt", Name: p.Prompt.Name}
	completed := got(session.Complete(ctx, &mcp.CompleteParams{Ref: reference, Argument: p.Argument}))
	say("complete", said{"values": completed.Completion.Values})
	must(session.Close())
	say("end", nil)
}
