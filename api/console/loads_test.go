package console

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// preloads is the list of files that the numbers after an import stand for.
	preloads = regexp.MustCompile(`m\.f=\[([^\]]*)\]`)
	// screens are the imports of the shell's routes: a script, and the files that are loaded with it.
	screens = regexp.MustCompile("component:\\w+\\(\\(\\)=>\\w+\\(\\(\\)=>" +
		"import\\(`\\./([^`]+)`\\),__vite__mapDeps\\(\\[([\\d,]*)\\]")
)

// screenFiles returns what each screen of the shell's routes loads beside the shell.
func screenFiles(t *testing.T, all map[string]asset) map[string][]string {
	t.Helper()
	var shell string
	var list []string
	for name, f := range all {
		if strings.HasPrefix(name, "assets/index-") && strings.HasSuffix(name, ".js") {
			shell = string(f.body.Plain())
			list = preloads.FindStringSubmatch(shell)
		}
	}
	if list == nil {
		t.Fatal("the shell has no list of files")
	}
	files := strings.Split(strings.ReplaceAll(list[1], `"`, ""), ",")
	loads := map[string][]string{}
	for _, screen := range screens.FindAllStringSubmatch(shell, -1) {
		script := "assets/" + screen[1]
		for _, number := range strings.Split(screen[2], ",") {
			n, err := strconv.Atoi(number)
			if err != nil || n >= len(files) {
				t.Fatalf("%s: no file %q", script, number)
			}
			loads[script] = append(loads[script], files[n])
		}
	}
	return loads
}

func TestTheFirstLoadAndEachFurtherScreenAreWithinTheirBudgets(t *testing.T) {
	t.Parallel()
	all, err := assets(built)
	if err != nil {
		t.Fatal(err)
	}
	index := string(all["index.html"].body.Plain())
	first, have := 0, map[string]bool{}
	load := func(name string) (size int) {
		if have[name] || strings.HasSuffix(name, ".woff2") {
			return 0
		}
		have[name] = true
		f, ok := all[name]
		if !ok {
			t.Fatalf("%s is not embedded", name)
		}
		return len(f.body.Gzip())
	}
	for name := range all {
		if strings.HasPrefix(name, "assets/") && strings.Contains(index, name) {
			first += load(name)
		}
	}
	loads := screenFiles(t, all)
	if len(loads) < 15 {
		t.Fatalf("only %d screens were found", len(loads))
	}
	contacts := ""
	for script := range loads {
		if strings.HasPrefix(script, "assets/contacts-") {
			contacts = script
		}
	}
	for _, name := range loads[contacts] {
		first += load(name)
	}
	if contacts == "" || first > firstBudget {
		t.Errorf("the shell and %q have %d bytes, the budget is %d", contacts, first, firstBudget)
	}
	most := 0
	for script, files := range loads {
		size, seen := 0, have
		have = map[string]bool{}
		for name := range seen {
			have[name] = true
		}
		for _, name := range files {
			size += load(name)
		}
		have, most = seen, max(most, size)
		if size > chunkBudget {
			t.Errorf("%s loads %d bytes more, the budget is %d", script, size, chunkBudget)
		}
	}
	t.Logf("%d screens: first load %d bytes, further screens at most %d", len(loads), first, most)
}
