package branding_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
)

func picture(w, h int) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range p.Pix {
		p.Pix[i] = byte(i * 7)
	}
	return p
}

func asPNG(t testing.TB, p image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(t testing.TB, p image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pngHeader returns a PNG that declares the given size, with the given data.
func pngHeader(w, h uint32, data []byte) []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, body []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
		b = append(append(b, kind...), body...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(append([]byte(kind), body...)))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	chunk("IHDR", append(head, 8, 6, 0, 0, 0))
	chunk("IDAT", data)
	chunk("IEND", nil)
	return b
}

// deflated returns n zero bytes, compressed.
func deflated(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(z, zeros{}, int64(n)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// A lossy WebP of one pixel, and a lossless one with alpha.
var (
	lossyWebP    = unbase64("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	losslessWebP = unbase64("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
)

func unbase64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

const plainSVG = `<?xml version="1.0" encoding="UTF-8"?>
<!-- drawn by hand -->
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:ink="http://ink.example/"
 viewBox="0 0 120 40" ink:page="1" data-name="x">
<metadata><any/></metadata><ink:view zoom="2"><ink:grid/></ink:view>
<title>Acme &amp; Co</title>
<style>/* colours */ .a , .b { fill : #8a1c4a ; -ink-font : Arial } .c{fill:url(#g)}</style>
<defs><linearGradient id="g" x1="0" x2="1"><stop offset="0" stop-color="#fff"/><stop offset="1"
 style="stop-color:rgb(1, 2, 3);-x-y:z"/></linearGradient></defs>
<g id="mark" transform="translate(1 2)"><path class="a" d="M0 0L10 10Z" fill="url(#g)"/></g>
<use xlink:href="#mark" x="20"/><text x="3" y="4"
 font-family="'Open Sans', sans-serif">Ac<tspan dx="1">m</tspan>e</text></svg>`

const plainSVGKept = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40"><title>Acme &amp; Co</title>` +
	`<style>.a , .b{fill:#8a1c4a}.c{fill:url(#g)}</style>` +
	`<defs><linearGradient id="g" x1="0" x2="1"><stop offset="0" stop-color="#fff"/><stop offset="1" ` +
	`style="stop-color:rgb(1, 2, 3)"/></linearGradient></defs>` +
	`<g id="mark" transform="translate(1 2)"><path class="a" d="M0 0L10 10Z" fill="url(#g)"/></g>` +
	`<use href="#mark" x="20"/><text x="3" y="4" font-family="&#39;Open Sans&#39;, ` +
	`sans-serif">Ac<tspan dx="1">m</tspan>e</text></svg>`

func TestALogoIsWrittenAnew(t *testing.T) {
	t.Parallel()
	grey := image.NewGray16(image.Rect(0, 0, 5, 4))
	for name, c := range map[string]struct {
		declared string
		sent     []byte
		want     branding.LogoInfo
	}{
		"png": {
			"image/png", asPNG(t, picture(30, 20)),
			branding.LogoInfo{Type: "image/png", Width: 30, Height: 20},
		},
		"png of 16 bits": {
			"image/png", asPNG(t, grey),
			branding.LogoInfo{Type: "image/png", Width: 5, Height: 4},
		},
		"png at the limit": {
			"image/png", asPNG(t, image.NewGray(image.Rect(0, 0, 2048, 2048))),
			branding.LogoInfo{Type: "image/png", Width: 2048, Height: 2048},
		},
		"jpeg": {
			"image/jpeg", asJPEG(t, picture(30, 20)),
			branding.LogoInfo{Type: "image/jpeg", Width: 30, Height: 20},
		},
		"webp with loss": {
			"image/webp", lossyWebP,
			branding.LogoInfo{Type: "image/jpeg", Width: 1, Height: 1},
		},
		"webp without loss": {
			"IMAGE/WebP; q=1", losslessWebP,
			branding.LogoInfo{Type: "image/png", Width: 1, Height: 1},
		},
		"svg": {
			"image/svg+xml; charset=UTF-8", []byte(plainSVG),
			branding.LogoInfo{Type: "image/svg+xml", Width: 120, Height: 40},
		},
		"svg with a mark": {
			"image/svg+xml",
			append([]byte("\ufeff\n"), `<svg xmlns="http://www.w3.org/2000/svg" width="12.4px" height="9"/>`...),
			branding.LogoInfo{Type: "image/svg+xml", Width: 12, Height: 9},
		},
		"an svg as a prefixed space": {
			"image/svg+xml",
			[]byte(
				`<s:svg xmlns:s="http://www.w3.org/2000/svg" viewBox="0,0,7,7"><s:rect width="7" ` +
					`height="7"/></s:svg>`),
			branding.LogoInfo{Type: "image/svg+xml", Width: 7, Height: 7},
		},
	} {
		l, err := branding.NewLogo(c.declared, c.sent)
		if err != nil {
			t.Errorf("%s: %v %+v", name, err, fault.Of(err))
			continue
		}
		c.want.Digest = l.Digest
		if l.LogoInfo != c.want || len(l.Digest) != 64 {
			t.Errorf("%s: %+v, want %+v", name, l.LogoInfo, c.want)
		}
		again, err := branding.NewLogo(l.Type, l.Bytes)
		if err != nil {
			t.Errorf("%s: the kept logo is refused: %v", name, err)
			continue
		}
		if again.Width != l.Width {
			t.Errorf("%s: the kept logo has width %d, want %d", name, again.Width, l.Width)
		}
		if l.Type != "image/jpeg" && again.Digest != l.Digest {
			t.Errorf("%s: the kept logo has digest %s, want %s", name, again.Digest, l.Digest)
		}
	}
	l, err := branding.NewLogo("image/svg+xml", []byte(plainSVG))
	if err != nil || string(l.Bytes) != plainSVGKept {
		t.Errorf("kept %s\nwant %s", l.Bytes, plainSVGKept)
	}
}

// TestNothingButThePictureIsKept uploads polyglot files: the stored image contains only the image.
func TestNothingButThePictureIsKept(t *testing.T) {
	t.Parallel()
	const page = "<script>alert(1)</script>"
	zip := "PK\x03\x04" + strings.Repeat("a", 40) + "PK\x05\x06"
	exif := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(2 + 6 + len(page))}, "Exif\x00\x00"+page...)
	tEXt := pngText(asPNG(t, picture(4, 4)), "Comment\x00"+page)
	for name, c := range map[string]struct {
		declared string
		sent     []byte
	}{
		"png with a page behind it": {"image/png", append(asPNG(t, picture(9, 9)), page...)},
		"png with a page in it":     {"image/png", tEXt},
		"jpeg with a zip behind it": {"image/jpeg", append(asJPEG(t, picture(9, 9)), zip...)},
		"jpeg with a page in it":    {"image/jpeg", append(exif, asJPEG(t, picture(9, 9))[2:]...)},
		"webp with a page behind":   {"image/webp", append(bytes.Clone(lossyWebP), page...)},
	} {
		l, err := branding.NewLogo(c.declared, c.sent)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, s := range []string{"script", "PK\x03\x04", "Exif"} {
			if bytes.Contains(l.Bytes, []byte(s)) {
				t.Errorf("%s: %q is still there", name, s)
			}
		}
	}
}

// pngText inserts a text chunk after the header.
func pngText(b []byte, text string) []byte {
	const head = 8 + 25
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
	chunk = append(chunk, "tEXt"+text...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE([]byte("tEXt"+text)))
	return append(append(bytes.Clone(b[:head]), chunk...), b[head:]...)
}

func TestWhatIsNoLogoIsRefused(t *testing.T) {
	t.Parallel()
	var animation bytes.Buffer
	if err := gif.Encode(&animation,
		image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Black, color.White}), nil); err != nil {
		t.Fatal(err)
	}
	gifScript := append([]byte("GIF89a/*"), "*/=1;alert(1)//"...)
	webpFrames := append(
		[]byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		make([]byte, 12)...)
	webpHuge := append([]byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\xff\xff\x00"),
		make([]byte, 12)...)
	scans := asJPEG(t, picture(8, 8))
	scans = append(scans[:len(scans)-2], bytes.Repeat([]byte{0xff, 0xda, 0, 12}, 100)...)
	for name, c := range map[string]struct {
		declared string
		sent     []byte
		code     string
	}{
		"a gif":                       {"image/gif", animation.Bytes(), "unsupported_media_type"},
		"a page":                      {"text/html", []byte("<html>"), "unsupported_media_type"},
		"json":                        {"application/json", []byte("{}"), "unsupported_media_type"},
		"no type":                     {"", asPNG(t, picture(2, 2)), "unsupported_media_type"},
		"a broken type":               {"image/png; charset", asPNG(t, picture(2, 2)), "unsupported_media_type"},
		"nothing":                     {"image/png", nil, "required"},
		"a gif that says png":         {"image/png", animation.Bytes(), "type_mismatch"},
		"a gif that is a script":      {"image/png", gifScript, "type_mismatch"},
		"a gif that says svg":         {"image/svg+xml", gifScript, "type_mismatch"},
		"a jpeg that says png":        {"image/png", asJPEG(t, picture(2, 2)), "type_mismatch"},
		"a png that says svg":         {"image/svg+xml", asPNG(t, picture(2, 2)), "type_mismatch"},
		"an svg that says png":        {"image/png", []byte(plainSVG), "type_mismatch"},
		"a pdf that says jpeg":        {"image/jpeg", []byte("%PDF-1.4"), "type_mismatch"},
		"a png of 50,000 by 50,000":   {"image/png", pngHeader(50_000, 50_000, deflated(t, 1<<20)), "too_large"},
		"a png one pixel too wide":    {"image/png", asPNG(t, image.NewGray(image.Rect(0, 0, 2049, 1))), "too_large"},
		"a jpeg one pixel too high":   {"image/jpeg", asJPEG(t, image.NewGray(image.Rect(0, 0, 1, 2049))), "too_large"},
		"a webp of 65,536 by 65,536":  {"image/webp", webpHuge, "unreadable"},
		"a webp that moves":           {"image/webp", webpFrames, "animated"},
		"a jpeg of a hundred scans":   {"image/jpeg", scans, "too_large"},
		"a png cut short":             {"image/png", asPNG(t, picture(20, 20))[:90], "unreadable"},
		"a png of nothing":            {"image/png", pngHeader(0, 0, nil), "unreadable"},
		"a jpeg of cyan and its kin":  {"image/jpeg", cmyk(t), "cmyk"},
		"a picture that grows a lot":  {"image/png", noise(t), ""},
		"an svg of the wrong charset": {"image/svg+xml; charset=utf-16", []byte(plainSVG), "invalid_svg"},
	} {
		_, err := branding.NewLogo(c.declared, c.sent)
		f := fault.Of(err)
		switch {
		case c.code == "" && err == nil:
		case f == nil:
			t.Errorf("%s: %v", name, err)
		case len(f.Fields) == 0 && string(f.Code) == c.code:
		case len(f.Fields) != 1 || f.Fields[0].Code != c.code || f.Fields[0].Pointer != "#":
			t.Errorf("%s: %v %+v, want %s", name, err, f.Fields, c.code)
		}
	}
}

// cmyk returns the header of a JPEG with four channels.
func cmyk(t *testing.T) []byte {
	t.Helper()
	b := asJPEG(t, image.NewGray(image.Rect(0, 0, 8, 8)))
	at := bytes.Index(b, []byte{0xff, 0xc0})
	frame := []byte{0xff, 0xc0, 0, 20, 8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0}
	return append(append(bytes.Clone(b[:at]), frame...), b[at+13:]...)
}

// noise returns an image that compresses badly.
func noise(t *testing.T) []byte {
	t.Helper()
	p, r := image.NewGray(image.Rect(0, 0, 900, 900)), rand.New(rand.NewPCG(1, 1))
	for i := range p.Pix {
		p.Pix[i] = byte(r.Uint32())
	}
	return asPNG(t, p)
}

// TestABombIsNotUnpacked: a header that declares too much is rejected cheaply, and data beyond the pixels is not
// decompressed.
func TestABombIsNotUnpacked(t *testing.T) {
	var before, after runtime.MemStats
	size := 400 << 20
	if testing.Short() { // decompression is ten times slower under the race detector
		size /= 10
	}
	huge, behind := pngHeader(50_000, 50_000, deflated(t, size/4)), pngHeader(10, 10, deflated(t, size))
	runtime.ReadMemStats(&before)
	if _, err := branding.NewLogo("image/png", huge); err == nil {
		t.Error("a picture of 50,000 by 50,000 is taken")
	}
	if _, err := branding.NewLogo("image/png", behind); fault.Of(err) == nil && err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("it took %d MiB", took>>20)
	}
}

// Hostile SVGs: each is rejected, or stored in a harmless form.
var hostile = map[string]string{
	"billion laughs": `<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><svg ` +
		`xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><text>&b;</text></svg>`,
	"external entity": `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg ` +
		`xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><text>&x;</text></svg>`,
	"doctype": `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://evil.test/svg11.dtd"><svg ` +
		`xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>`,
	"unknown entity": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><text>&nbsp;</text></svg>`,
	"script": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 ` +
		`1"><script>alert(1)</script></svg>`,
	"script in capitals": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 ` +
		`1"><SCRIPT>alert(1)</SCRIPT></svg>`,
	"script by prefix": `<svg xmlns="http://www.w3.org/2000/svg" xmlns:s="http://www.w3.org/2000/svg" ` +
		`viewBox="0 0 1 1"><s:script>alert(1)</s:script></svg>`,
	"script of HTML": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><h:script ` +
		`xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script></svg>`,
	"script of no namespace": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script ` +
		`xmlns="">alert(1)</script></svg>`,
	"script of an editor": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script ` +
		`xmlns="urn:x">alert(1)</script></svg>`,
	"script behind a prefix": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 ` +
		`1"><x:script>alert(1)</x:script></svg>`,
	"script in CDATA": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 ` +
		`1"><style><![CDATA[</style><script>alert(1)</script>]]></style></svg>`,
	"CDATA in a title": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 ` +
		`1"><title><![CDATA[</title><script>alert(1)</script>]]></title></svg>`,
	"onload":             `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" onload="alert(1)"/>`,
	"onload in capitals": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" ONLOAD="alert(1)"/>`,
	"onload by a namespace": `<svg xmlns="http://www.w3.org/2000/svg" xmlns:a="urn:a" viewBox="0 0 1 1" ` +
		`a:onload="alert(1)"/>`,
	"onclick in a nested svg": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><svg><svg ` +
		`onclick="alert(1)"/></svg></svg>`,
	"foreignObject": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><foreignObject><body ` +
		`xmlns="http://www.w3.org/1999/xhtml"><iframe src="javascript:alert(1)"/></body></foreignObject></svg>`,
	"javascript link": `<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" ` +
		`viewBox="0 0 1 1"><a x:href="javascript:alert(1)"><rect width="1" height="1"/></a></svg>`,
	"javascript use": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><use href=" ` +
		`java&#10;script:alert(1)"/></svg>`,
	"external use": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><use ` +
		`href="https://evil.test/x.svg#a"/></svg>`,
	"external use by xlink": `<svg xmlns="http://www.w3.org/2000/svg" xmlns:y="http://www.w3.org/1999/xlink" ` +
		`viewBox="0 0 1 1"><use y:href="//evil.test/x.svg#a"/></svg>`,
	"external image": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><image ` +
		`href="https://evil.test/pixel.png"/></svg>`,
	"data of HTML": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><use ` +
		`href="data:text/html,&lt;script&gt;alert(1)&lt;/script&gt;"/></svg>`,
	"data of SVG in use": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><use ` +
		`href="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=#x"/></svg>`,
	"import": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><style>@import ` +
		`url(https://evil.test/a.css);</style></svg>`,
	"import by an escape": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><style>\40import ` +
		`url(https://evil.test/a.css);</style></svg>`,
	"import behind a comment": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><style>/**/@im/**/port ` +
		`"x";</style></svg>`,
	"import as an entity": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><style>&#64;import ` +
		`"https://evil.test/a.css";</style></svg>`,
	"font from elsewhere": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 ` +
		`1"><style>@font-face{font-family:x;src:url(https://evil.test/f)}</style></svg>`,
	"style that reaches out": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect ` +
		`style="fill:url(https://evil.test/a#b)"/></svg>`,
	"style by an escape": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect ` +
		`style="fill:u\72l(https://evil.test/a#b)"/></svg>`,
	"style in a comment": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect ` +
		`style="fill:u/**/rl(evil.svg#b)"/></svg>`,
	"style that is expression": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect ` +
		`style="width:expression(alert(1))"/></svg>`,
	"fill that reaches out": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect ` +
		`fill="url('https://evil.test/a#b')"/></svg>`,
	"filter that reaches out": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><filter id="f"><feImage ` +
		`href="https://evil.test/a"/></filter></svg>`,
	"entity in an attribute": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><use ` +
		`href="&#106;avascript:alert(1)"/></svg>`,
	"handler by an entity": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect fill="&quot; ` +
		`onload=&quot;alert(1)"/></svg>`,
	"xml:base": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" ` +
		`xml:base="https://evil.test/"><use href="#a"/></svg>`,
	"animation of a link": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><use href="#a"><set ` +
		`attributeName="href" to="javascript:alert(1)"/></use></svg>`,
	"animate": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect><animate ` +
		`attributeName="x" onbegin="alert(1)"/></rect></svg>`,
	"style sheet by XML": `<?xml-stylesheet href="https://evil.test/a.css"?><svg ` +
		`xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>`,
	"instruction inside": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><?php system("id") ?></svg>`,
	"UTF-7": `<?xml version="1.0" encoding="UTF-7"?>+ADw-svg ` +
		`xmlns=+ACI-http://www.w3.org/2000/svg+ACI- onload=+ACI-alert(1)+ACI-/+AD4-`,
	"UTF-7 without saying": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 ` +
		`1"><title>+ADw-script+AD4-alert(1)+ADw-/script+AD4-</title></svg>`,
	"UTF-16": string(utf16le(`<?xml version="1.0" encoding="UTF-16"?><svg ` +
		`xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" onload="alert(1)"/>`)),
	"another charset": `<?xml version="1.0" encoding="ISO-8859-1"?><svg xmlns="http://www.w3.org/2000/svg" ` +
		`viewBox="0 0 1 1"/>`,
	"broken UTF-8": "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 " +
		"1\"><title>\xc0\xbcscript\xc0\xbe</title></svg>",
	"page behind it":    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/><script>alert(1)</script>`,
	"a page":            `<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>`,
	"not an svg at all": `<svg viewBox="0 0 1 1"><script>alert(1)</script></svg>`,
	"not closed":        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><g>`,
	"a circle": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><g id="a"><use ` +
		`href="#b"/></g><g id="b"><use href="#a"/></g></svg>`,
	"laughs by references": laughs(),
	"patterns of patterns": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 ` +
		`1"><style>rect{mask:url(#m)}</style><mask id="m"><rect width="1" height="1"/></mask></svg>`,
	"too deep": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">` + strings.Repeat("<g>",
		1000) + strings.Repeat("</g>", 1000) + `</svg>`,
	"too many": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">` + strings.Repeat("<g/>",
		30_000) + `</svg>`,
	"of no size": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 NaN Inf"/>`,
}

// laughs returns nested references that multiply a rectangle by ten at each level.
func laughs() string {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect id="l0" width="1" height="1"/>`)
	for i := range 9 {
		b.WriteString(`<g id="l` + string(rune('1'+i)) + `">` +
			strings.Repeat(`<use href="#l`+string(rune('0'+i))+`"/>`, 10) + `</g>`)
	}
	return b.String() + `</svg>`
}

func utf16le(s string) []byte {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// kept are the hostile SVGs of which a harmless form is stored.
var kept = map[string]bool{
	"script of an editor": true, "script behind a prefix": true, "UTF-7 without saying": true,
	"CDATA in a title": true,
}

func TestAHostileSVGIsRefusedOrMadeHarmless(t *testing.T) {
	t.Parallel()
	for name, sent := range hostile {
		l, err := branding.NewLogo("image/svg+xml", []byte(sent))
		if (err == nil) != kept[name] {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			harmless(t, l.Bytes)
		} else if f := fault.Of(err); f == nil || len(f.Fields) != 1 {
			t.Errorf("%s: %v, want a fault with one field", name, err)
		} else if f.Fields[0].Detail == "" {
			t.Errorf("%s: %v has no detail for %+v", name, err, f.Fields[0])
		}
	}
}

var (
	allowedName = regexp.MustCompile(
		`^(svg|g|defs|symbol|use|path|rect|circle|ellipse|line|polyline|polygon|linearGradient|` +
			`radialGradient|stop|clipPath|mask|pattern|marker|text|tspan|title|desc|style)$`)
	reachingOut = regexp.MustCompile(`(?i)url\(\s*["']?[^#"'\s]|@|\\|expression|javascript|://|data:`)
)

// harmless parses a stored SVG independently and fails on anything that could run code or load resources.
func harmless(t *testing.T, kept []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(kept))
	depth, inStyle := 0, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("what was kept is no XML: %v\n%s", err, kept)
		}
		switch tok := token.(type) {
		case xml.StartElement:
			depth++
			inStyle = tok.Name.Local == "style"
			if tok.Name.Space != "http://www.w3.org/2000/svg" || !allowedName.MatchString(tok.Name.Local) {
				t.Fatalf("<%s %s> was kept\n%s", tok.Name.Space, tok.Name.Local, kept)
			}
			for _, a := range tok.Attr {
				switch {
				case a.Name.Local == "xmlns" && a.Value == "http://www.w3.org/2000/svg" && depth == 1:
				case a.Name.Space != "", strings.HasPrefix(strings.ToLower(a.Name.Local), "on"):
					t.Fatalf("%s:%s was kept\n%s", a.Name.Space, a.Name.Local, kept)
				case a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#"), reachingOut.MatchString(a.Value):
					t.Fatalf("%s=%q was kept\n%s", a.Name.Local, a.Value, kept)
				}
			}
		case xml.EndElement:
			depth--
			inStyle = false
		case xml.CharData:
			if inStyle && reachingOut.Match(tok) {
				t.Fatalf("the style %s was kept", tok)
			}
		default:
			t.Fatalf("%T was kept\n%s", tok, kept)
		}
	}
}

// FuzzSVG: the output is harmless for any input, and sanitizing it again does not change it.
func FuzzSVG(f *testing.F) {
	f.Add([]byte(plainSVG))
	for _, sent := range hostile {
		if len(sent) < 4096 {
			f.Add([]byte(sent))
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		l, err := branding.NewLogo("image/svg+xml", sent)
		if err != nil {
			if fault.Of(err) == nil {
				t.Fatal(err)
			}
			return
		}
		harmless(t, l.Bytes)
		again, err := branding.NewLogo("image/svg+xml", l.Bytes)
		if err != nil || !bytes.Equal(again.Bytes, l.Bytes) {
			t.Fatalf("%v\n%s\n%s", err, l.Bytes, again.Bytes)
		}
	})
}

// FuzzRaster: any input is rejected or becomes an image within the limits.
func FuzzRaster(f *testing.F) {
	for _, b := range [][]byte{
		asPNG(f, picture(3, 2)), asJPEG(f, picture(3, 2)), lossyWebP, losslessWebP,
		pngHeader(50_000, 50_000, nil),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		for _, declared := range []string{"image/png", "image/jpeg", "image/webp"} {
			l, err := branding.NewLogo(declared, sent)
			if err != nil {
				if fault.Of(err) == nil {
					t.Fatal(err)
				}
				continue
			}
			p, _, err := image.Decode(bytes.NewReader(l.Bytes))
			if err != nil {
				t.Fatalf("decode the kept %+v: %v", l.LogoInfo, err)
			}
			if got, want := p.Bounds().Size(), image.Pt(l.Width, l.Height); got != want {
				t.Fatalf("kept %v pixels, want %v", got, want)
			}
			if l.Width > 2048 || l.Height > 2048 {
				t.Fatalf("kept %d x %d pixels, want at most 2048 x 2048", l.Width, l.Height)
			}
		}
	})
}
