package branding

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"mime"
	"strings"

	"golang.org/x/image/webp"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Limits of a logo.
const (
	LogoBytes  = 1 << 20 // as uploaded
	keptBytes  = 2 << 20 // as stored; re-encoding may enlarge an image
	logoSide   = 2048    // maximum width and height of a raster, in pixels
	jpegPasses = 64      // scans of a JPEG, each over all pixels; ordinary files have up to 12
)

// The accepted types.
const (
	typePNG  = "image/png"
	typeJPEG = "image/jpeg"
	typeWebP = "image/webp"
	typeSVG  = "image/svg+xml"
)

// Logo is a re-encoded image. Of the upload, it contains only the visible content.
type Logo struct {
	LogoInfo
	Bytes []byte
}

// Raster reports whether mail programs can display the logo.
func (l *LogoInfo) Raster() bool { return l.Type == typePNG || l.Type == typeJPEG }

// NewLogo converts an upload with the given Content-Type: PNG, JPEG or WebP, which are decoded and re-encoded as PNG or
// JPEG, or SVG, of which only harmless parts are kept (svg.go).
//
// A raster has at most 2048 x 2048 pixels; this is checked from its header before any pixel is decoded. Only a still
// image is kept: of an animated PNG, the default image; an animated WebP, which has none, is rejected. CMYK is
// rejected, because its colours are undefined without a profile. Camera metadata, including the orientation, is
// dropped.
//
// Errors: fault.UnsupportedMedia for another type; fault.ValidationFailed, about the whole body, if the body does not
// match its type, cannot be decoded, is too large, or is an SVG with a forbidden part.
func NewLogo(contentType string, sent []byte) (*Logo, error) {
	declared, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	if err != nil || declared != typePNG && declared != typeJPEG && declared != typeWebP && declared != typeSVG {
		return nil,
			fault.New(fault.UnsupportedMedia, "Send Content-Type: image/png, image/jpeg, image/webp or image/svg+xml.")
	}

	if len(sent) == 0 {
		return nil, invalidLogo("required", "The body is the logo: it is missing.")
	}

	if sniffType(sent) != declared {
		return nil, invalidLogo("type_mismatch", "The body is not what its Content-Type says.")
	}

	out := &Logo{}
	if declared == typeSVG {
		if charset != "" && !strings.EqualFold(charset, "utf-8") {
			return nil, invalidLogo("invalid_svg", "An SVG is sent in UTF-8.")
		}
		out.Type = typeSVG
		out.Bytes, out.Width, out.Height, err = cleanSVG(sent)
	} else {
		err = out.encodeAgain(declared, sent)
	}

	if err != nil {
		return nil, err
	}

	if len(out.Bytes) > keptBytes {
		return nil, invalidLogo("too_large",
			"Written anew this picture takes more than 2 MiB: send fewer pixels.")
	}

	sum := sha256.Sum256(out.Bytes)
	out.Digest = hex.EncodeToString(sum[:])

	return out, nil
}

// invalidLogo returns a 422 fault about the whole body.
func invalidLogo(code, detail string) *fault.Fault {
	return &fault.Fault{
		Code: fault.ValidationFailed, Detail: "This cannot be a logo.",
		Fields: []fault.FieldError{{Pointer: "#", Code: code, Detail: detail}},
	}
}

// sniffType returns the type that the first bytes indicate, or "" if it is not supported.
func sniffType(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return typePNG
	case bytes.HasPrefix(b, []byte{0xff, 0xd8, 0xff}):
		return typeJPEG
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return typeWebP
	}

	text := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n")
	if bytes.HasPrefix(text, []byte("<")) {
		return typeSVG // the parser verifies it
	}

	return ""
}

// encodeAgain decodes a raster and re-encodes it.
func (l *Logo) encodeAgain(declared string, sent []byte) (err error) {
	defer func() {
		if v := recover(); v != nil { // a panic in a decoder must not end the process
			err = unreadableLogo(fmt.Errorf("panic: %v", v))
		}
	}()

	size, decode, err := readHeader(declared, sent)
	if err != nil {
		return err
	}

	if size.Width < 1 || size.Height < 1 || size.Width > logoSide || size.Height > logoSide {
		return invalidLogo("too_large", fmt.Sprintf("A logo has at most %d x %[1]d pixels.",
			logoSide))
	}

	if size.ColorModel == color.CMYKModel {
		return invalidLogo("cmyk", "The colours of a CMYK picture differ from program to program. Save it as RGB.")
	}

	picture, err := decode(bytes.NewReader(sent))
	if err != nil {
		return unreadableLogo(err)
	}

	if b := picture.Bounds(); b.Dx() != size.Width || b.Dy() != size.Height {
		return unreadableLogo(errors.New("the pixels do not match the header"))
	}

	l.Width = size.Width
	l.Height = size.Height
	var out bytes.Buffer
	if _, lossy := picture.(*image.YCbCr); lossy || declared == typeJPEG {
		l.Type = typeJPEG
		err = jpeg.Encode(&out, picture, &jpeg.Options{Quality: 90})
	} else {
		l.Type = typePNG
		err = png.Encode(&out, withByteChannels(picture))
	}

	if err != nil {
		return fmt.Errorf("write logo: %w", err)
	}

	l.Bytes = out.Bytes()

	return nil
}

func unreadableLogo(cause error) error {
	f := invalidLogo("unreadable", "The picture is damaged, or of a kind that we cannot read.")
	return f.Because(cause)
}

// readHeader decodes the header and rejects images that are too expensive to decode.
func readHeader(declared string, sent []byte) (size image.Config,
	decode func(*bytes.Reader) (image.Image, error),
	err error,
) {
	switch declared {
	case typePNG:
		size, err = png.DecodeConfig(bytes.NewReader(sent))
		decode = func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) }
	case typeJPEG:
		if bytes.Count(sent, []byte{0xff, 0xda}) > jpegPasses {
			return size, nil, invalidLogo("too_large",
				"This JPEG has too many scans. Save it anew.")
		}
		size, err = jpeg.DecodeConfig(bytes.NewReader(sent))
		decode = func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) }
	case typeWebP:
		if isAnimated(sent) {
			return size, nil, invalidLogo("animated", "A logo is one still picture.")
		}
		size, err = webp.DecodeConfig(bytes.NewReader(sent))
		decode = func(r *bytes.Reader) (image.Image, error) { return webp.Decode(r) }
	default:
		err = errors.New("not a raster image")
	}

	if err != nil {
		err = unreadableLogo(err)
	}

	return size, decode, err
}

// isAnimated reports whether the header of a WebP declares an animation.
func isAnimated(b []byte) bool {
	return len(b) > 20 && string(b[12:16]) == "VP8X" && binary.LittleEndian.Uint32(b[16:20]) == 10 && b[20]&2 != 0
}

// withByteChannels returns the image with 8 bits per channel. An image with at most 8 bits is returned unchanged.
func withByteChannels(p image.Image) image.Image {
	switch p.(type) {
	case *image.Paletted, *image.Gray, *image.NRGBA, *image.RGBA:
		return p
	}

	out := image.NewNRGBA(p.Bounds())
	draw.Draw(out, out.Bounds(), p, p.Bounds().Min, draw.Src)

	return out
}
