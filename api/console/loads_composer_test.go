package console

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// composerBudget is what the composer may add to the page that opens it.
const composerBudget = 150_000

// imports are the imports that a script makes later: a script, and the files that are loaded with it.
var imports = regexp.MustCompile("import\\(`\\./([^`]+)`\\)(?:,__vite__mapDeps\\(\\[([\\d,]*)\\]\\))?")

// laterFiles returns what each import that is made later loads, by the script that it is for.
func laterFiles(t *testing.T, all map[string]asset) map[string][]string {
	t.Helper()
	loads := map[string][]string{}
	for name, f := range all {
		if !strings.HasSuffix(name, ".js") {
			continue
		}
		script := string(f.body.Plain())
		var files []string
		if list := preloads.FindStringSubmatch(script); list != nil {
			files = strings.Split(strings.ReplaceAll(list[1], `"`, ""), ",")
		}
		for _, one := range imports.FindAllStringSubmatch(script, -1) {
			loaded := []string{"assets/" + one[1]}
			for number := range strings.SplitSeq(one[2], ",") {
				n, err := strconv.Atoi(number)
				if number != "" && (err != nil || n >= len(files)) {
					t.Fatalf("%s: no file %q", name, number)
				}
				if number != "" {
					loaded = append(loaded, files[n])
				}
			}
			loads[loaded[0]] = loaded
		}
	}
	return loads
}

func TestTheComposerIsWithinItsBudgetAndLoadedOnlyWhereItOpens(t *testing.T) {
	t.Parallel()
	all, err := assets(built)
	if err != nil {
		t.Fatal(err)
	}
	var editor []string
	for name, f := range all {
		if strings.HasSuffix(name, ".js") && bytes.Contains(f.body.Plain(), []byte("ProseMirror")) {
			editor = append(editor, name)
		}
	}
	index := string(all["index.html"].body.Plain())
	holds := func(files []string) bool {
		return slices.ContainsFunc(editor, func(name string) bool { return slices.Contains(files, name) })
	}
	first := map[string]bool{}
	for name := range all {
		first[name] = strings.Contains(index, name)
	}
	screens := screenFiles(t, all)
	for script, files := range screens {
		if holds(append(files, script)) {
			t.Errorf("%s loads the editor of mails", script)
		}
	}
	opened := 0
	for script, files := range laterFiles(t, all) {
		if !holds(files) {
			continue
		}
		opened++
		size, seen := 0, map[string]bool{}
		for _, name := range files {
			if !seen[name] && !first[name] && !strings.HasSuffix(name, ".woff2") {
				size += len(all[name].body.Gzip())
			}
			seen[name] = true
		}
		if t.Logf("%s loads %d bytes", script, size); size > composerBudget {
			t.Errorf("%s loads %d bytes, the budget is %d", script, size, composerBudget)
		}
	}
	if opened == 0 || len(editor) == 0 {
		t.Errorf("the editor is in %q, and %d imports load it", editor, opened)
	}
	for name := range first {
		if first[name] && slices.Contains(editor, name) {
			t.Errorf("the first load has the editor of mails: %s", name)
		}
	}
}
