// Reads what deploys Vitrine with the code of those who will: `chart RELEASE FOLDER VALUES...` renders a chart as
// `helm template` does, with Helm's own loader, schema of values and templates, and prints the manifests; `compose FILE`
// prints a composition as Docker Compose understands it, in JSON. The commands helm and docker would take minutes to
// build: most of them speaks to clusters and daemons.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"sort"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

func main() {
	printed, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(printed)
}

func run(args []string) (string, error) {
	if len(args) >= 3 && args[0] == "chart" {
		return render(args[1], args[2], args[3:])
	}
	if len(args) == 2 && args[0] == "compose" {
		return composition(args[1])
	}
	return "", errors.New("usage: chart RELEASE FOLDER VALUES..., or compose FILE")
}

func composition(file string) (string, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithOsEnv, cli.WithName("vitrine"))
	if err != nil {
		return "", err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return "", err
	}
	json, err := project.MarshalJSON()
	return string(json), err
}

func render(release string, folder string, files []string) (string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return "", err
	}
	if err := chart.Validate(); err != nil {
		return "", err
	}
	given := map[string]interface{}{}
	for _, file := range files {
		values, err := chartutil.ReadValuesFile(file)
		if err != nil {
			return "", err
		}
		given = chartutil.CoalesceTables(values, given)
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: "library", Revision: 1, IsInstall: true}
	// ToRenderValues holds the values to values.schema.json.
	values, err := chartutil.ToRenderValues(chart, given, options, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	// Strict: a value that is not there is an error, where templates would write "<no value>".
	rendered, err := engine.Engine{Strict: true}.Render(chart, values)
	if err != nil {
		return "", err
	}
	names := make([]string, 0, len(rendered))
	for name, text := range rendered {
		isManifest := path.Ext(name) == ".yaml" && strings.TrimSpace(text) != ""
		if isManifest {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var all strings.Builder
	for _, name := range names {
		fmt.Fprintf(&all, "---\n# Source: %s\n%s\n", name, rendered[name])
	}
	return all.String(), nil
}
