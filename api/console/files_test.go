package console

import (
	"bytes"
	"flag"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

var update = flag.Bool("update", false, "write the compressed forms of the files in dist")

// plainFiles returns the built files in dir without their compressed forms. The names begin with dist/.
func plainFiles(t *testing.T, dir fs.FS) (names []string) {
	t.Helper()
	err := fs.WalkDir(dir, distDir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(name, gzipForm) && !strings.HasSuffix(name, brForm) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func gzipped(t *testing.T, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(plain) // a bytes.Buffer never fails
	_ = w.Close()
	return out.Bytes()
}

func brotlied(plain []byte) []byte {
	var out bytes.Buffer
	w := brotli.NewWriterLevel(&out, brotli.BestCompression)
	_, _ = w.Write(plain) // a bytes.Buffer never fails
	_ = w.Close()
	return out.Bytes()
}

// With -update, it compresses the files on disk, which may be newer than the embedded ones.
func TestTheCompressedFormsAreThoseOfTheFiles(t *testing.T) {
	t.Parallel()
	dir := os.DirFS(".")
	for _, name := range plainFiles(t, dir) {
		if !compressed(name) {
			continue
		}
		plain, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		for form, want := range map[string][]byte{gzipForm: gzipped(t, plain), brForm: brotlied(plain)} {
			if *update {
				if err := os.WriteFile(filepath.FromSlash(name+form), want, 0o600); err != nil {
					t.Fatal(err)
				}
				continue
			}
			got, err := fs.ReadFile(dir, name+form)
			if err != nil {
				t.Errorf("%v; run go test ./api/console -update", err)
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s%s is not what the compressor writes; run go test ./api/console -update", name, form)
			}
		}
	}
}

func TestEachCompressedFormBelongsToAFile(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(built, distDir, func(name string, _ fs.DirEntry, err error) error {
		plain, isForm := strings.CutSuffix(strings.TrimSuffix(name, brForm), gzipForm)
		if err != nil || !isForm && !strings.HasSuffix(name, brForm) {
			return err
		}
		_, err = fs.Stat(built, plain)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// named finds what the shell loads.
var named = regexp.MustCompile(`(?:src|href)="(/[^"]*)"`)

func TestEveryFileThatTheShellNamesIsEmbedded(t *testing.T) {
	t.Parallel()
	all, err := assets(built)
	if err != nil {
		t.Fatal(err)
	}
	index := string(all["index.html"].body.Plain())
	found := named.FindAllStringSubmatch(index, -1)
	if len(found) < 4 {
		t.Fatalf("the shell names only %q", found)
	}
	for _, one := range found {
		if _, ok := all[strings.TrimPrefix(one[1], Base+"/")]; !ok {
			t.Errorf("%s is not embedded", one[1])
		}
	}
}

// imported finds the chunks and style sheets that a script names.
var imported = regexp.MustCompile(
	"[\"'`(]\\.?/?(?:assets/)?([A-Za-z0-9_.-]+-[A-Za-z0-9_-]{8}\\.(?:js|css|woff2))[\"'`)]",
)

func TestEveryFileThatAnAssetNamesIsEmbedded(t *testing.T) {
	t.Parallel()
	all, err := assets(built)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, file := range all {
		for _, one := range imported.FindAllSubmatch(file.body.Plain(), -1) {
			names++
			if _, ok := all["assets/"+string(one[1])]; !ok {
				t.Errorf("assets/%s is not embedded", one[1])
			}
		}
	}
	if names < 5 {
		t.Errorf("found only %d names", names)
	}
}

// absolute finds addresses with a host. Those of allowedHosts are names (of XML namespaces) and links in the messages
// of libraries, which nothing loads.
var (
	absolute     = regexp.MustCompile(`(?:https?:)?//([a-z0-9-]+(?:\.[a-z0-9-]+)+)`)
	allowedHosts = []string{
		"www.w3.org",
		"react.dev",
		"radix-ui.com",
		"github.com",
		"tanstack.com",
		"prosemirror.net",
		"example.com", // in the placeholders of fields
		"hooks.example.com",
	}
)

func TestTheFilesNameNoForeignHost(t *testing.T) {
	t.Parallel()
	for _, name := range plainFiles(t, built) {
		if !compressed(name) || path.Ext(name) == ".txt" { // a font's licence names its home, and no page loads it
			continue
		}
		text, err := fs.ReadFile(built, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range absolute.FindAllSubmatch(text, -1) {
			if !slices.Contains(allowedHosts, string(one[1])) {
				t.Errorf("%s names the host %s", name, one[1])
			}
		}
		if strings.HasSuffix(name, ".html") {
			if loads := testkit.ForeignLoads(string(text)); loads != nil {
				t.Errorf("%s loads %q", name, loads)
			}
		}
	}
}

// Sizes compressed with gzip, in bytes.
const (
	firstBudget = 160_000 // the files that index.html names and those of the contacts
	chunkBudget = 60_000  // what a further screen adds
	fontBudget  = 60_000  // the font that the shell preloads
)

func TestTheFontIsWithinItsSizeBudget(t *testing.T) {
	t.Parallel()
	all, err := assets(built)
	if err != nil {
		t.Fatal(err)
	}
	index, fonts := string(all["index.html"].body.Plain()), 0
	for name, file := range all {
		if !strings.HasSuffix(name, ".woff2") || !strings.Contains(index, name) {
			continue
		}
		fonts++
		if n := len(file.body.Plain()); n > fontBudget {
			t.Errorf("%s has %d bytes, more than %d", name, n, fontBudget)
		}
	}
	if fonts == 0 {
		t.Error("the shell preloads no font")
	}
}

func TestReadingFilesFailsForAFileWithoutCompressedForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, distDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, distDir, "a.js"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := assets(os.DirFS(dir)); err == nil {
		t.Error("no error")
	}
}

func TestTheFormsDecompressToTheFile(t *testing.T) {
	t.Parallel()
	plain := bytes.Repeat([]byte("console "), 1000)
	unzip, err := gzip.NewReader(bytes.NewReader(gzipped(t, plain)))
	if err != nil {
		t.Fatal(err)
	}
	for form, reader := range map[string]io.Reader{
		gzipForm: unzip, brForm: brotli.NewReader(bytes.NewReader(brotlied(plain))),
	} {
		if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %d bytes, %v", form, len(got), err)
		}
	}
}
