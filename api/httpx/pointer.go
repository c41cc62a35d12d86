package httpx

import (
	"strconv"
	"strings"
)

// Pointer converts "friends[0].name" to "#/friends/0/name". It resolves names that contain dots or brackets by looking
// them up in the body.
func Pointer(path string, at any) string {
	var out strings.Builder
	out.WriteByte('#')
	for path != "" {
		var name string
		switch v := at.(type) {
		case map[string]any:
			name, path = memberName(path, v)
			at = v[name]
		case []any:
			name, path = splitElement(path)
			at = nil
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
				at = v[i]
			}
		default:
			name, path = splitElement(path)
			at = nil
		}
		out.WriteString("/" + escapePointer(name))
	}

	return out.String()
}

// memberName returns the longest member name of v that path begins with. If there is none, it returns path up to the
// next dot or bracket.
func memberName(path string, v map[string]any) (name, rest string) {
	for k := range v {
		tail, ok := strings.CutPrefix(path, k)
		if ok && len(k) >= len(name) && (tail == "" || tail[0] == '.' || tail[0] == '[') {
			name = k
			rest = strings.TrimPrefix(tail, ".")
		}
	}
	if name != "" {
		return name, rest
	}
	return splitElement(path)
}

// splitElement splits the leading "[0]" or plain name off path.
func splitElement(path string) (name, rest string) {
	if strings.HasPrefix(path, "[") {
		name, rest, _ = strings.Cut(path[1:], "]")
		return name, strings.TrimPrefix(rest, ".")
	}
	if i := strings.IndexAny(path, ".["); i > 0 {
		return path[:i], strings.TrimPrefix(path[i:], ".")
	}
	return path, ""
}

// escapePointer escapes name as RFC 6901 requires, with the percent-encoding of a URI fragment.
func escapePointer(name string) string {
	name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	var out strings.Builder
	for i := range len(name) {
		b := name[i]
		if b > 0x20 && b < 0x7f && !strings.ContainsRune(`"%<>\^`+"`{|}#", rune(b)) {
			out.WriteByte(b)
			continue
		}
		out.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(b)+0x100, 16)[1:]))
	}

	return out.String()
}
