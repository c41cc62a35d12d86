package httpx

import (
	"bytes"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// compressedOver is the size up to which a body is sent uncompressed, since compression would save no packet.
const compressedOver = 1 << 10

// chooseCoding returns the coding which the client prefers, and sets Vary. A response that contains a secret is not
// compressed: its size would disclose the secret to an attacker who can add text to the response (BREACH).
func chooseCoding(c *fiber.Ctx, r *Request) string {
	res := c.Response()
	if res.IsBodyStream() || r.Op != nil && r.Op.Secret || !isCompressible(res.Header.ContentType()) {
		return identity
	}

	coding := identity
	must := false
	if accepted := c.Request().Header.PeekAll(fiber.HeaderAcceptEncoding); len(accepted) > 0 {
		coding, must = Negotiate(string(bytes.Join(accepted, []byte{','})))
	}
	if n := len(res.Body()); n == 0 || n <= compressedOver && !must {
		return identity
	}

	c.Vary(fiber.HeaderAcceptEncoding)

	return coding
}

// compressBody compresses the response body.
func compressBody(c *fiber.Ctx, r *Request, coding string) {
	body := c.Response().Body()
	packed := r.Fixed.cachedCoding(coding, body)
	if packed == nil {
		packed = compressOnce(coding, body)
	}
	c.Response().Header.SetContentEncoding(coding)
	c.Response().SetBodyRaw(packed)
}

// isCompressible reports whether a media type is text. Image formats are compressed already.
func isCompressible(kind []byte) bool {
	name, _, _ := bytes.Cut(kind, []byte{';'})
	return bytes.HasPrefix(name, []byte("text/")) || bytes.HasSuffix(name, []byte("json")) ||
		string(name) == "image/svg+xml"
}

// Negotiate returns the coding which an Accept-Encoding header prefers, and whether the header refuses the identity
// coding (RFC 9110, 12.5.3). The coding is empty if the header accepts none of ours.
func Negotiate(accepted string) (coding string, must bool) {
	const unset = -1
	br, gz, plain, others := unset, unset, unset, unset
	for one := range strings.SplitSeq(accepted, ",") {
		name, parameter, _ := strings.Cut(one, ";")
		q := parseQuality(parameter)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case brCoding:
			br = max(br, q)
		case gzipCoding, "x-gzip":
			gz = max(gz, q)
		case "identity":
			plain = max(plain, q)
		case "*":
			others = max(others, q)
		}
	}

	refused := plain == 0 || plain == unset && others == 0
	if br == unset {
		br = others
	}
	if gz == unset {
		gz = others
	}

	switch best := max(br, gz); {
	case best <= 0, plain > best:
		return identity, false
	case br == best:
		return brCoding, refused
	default:
		return gzipCoding, refused
	}
}

// parseQuality parses a parameter q, in thousandths. It returns 1000 if there is none and 0 if it is malformed.
func parseQuality(parameter string) int {
	parameter = strings.TrimSpace(parameter)
	if parameter == "" {
		return 1000
	}

	name, value, _ := strings.Cut(parameter, "=")
	whole, fraction, _ := strings.Cut(strings.TrimSpace(value), ".")
	if !strings.EqualFold(strings.TrimSpace(name), "q") || whole != "0" && whole != "1" || len(fraction) > 3 {
		return 0
	}

	q := int(whole[0]-'0') * 1000
	for i, place := 0, 100; i < len(fraction); i, place = i+1, place/10 {
		digit := int(fraction[i]) - '0'
		if digit < 0 || digit > 9 {
			return 0
		}
		q += digit * place
	}

	return min(q, 1000)
}
