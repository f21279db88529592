package genome

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// surroundings shortens a long text to the part around its end, where the YAML reader failed with err: the last key in the
// first column, and the last elements of its list. It returns the number of lines left out. If the short text fails in
// another way, the whole text is returned.
func surroundings(text []byte, err error) (near []byte, skipped int) {
	const short, room = 8 << 10, 2 << 10 // bytes
	if len(text) < short {
		return text, 0
	}
	far := text[:len(text)-room]
	key := lastKey(far)
	head := key + bytes.IndexByte(far[key:], '\n') + 1
	dash := bytes.IndexByte(far[head:], '-')
	if dash < 0 || len(bytes.Trim(far[head:head+dash], " ")) > 0 {
		return text, 0
	}
	item := bytes.LastIndex(far, append([]byte{'\n'}, far[head:head+dash+1]...)) + 1
	if item <= head {
		return text, 0
	}
	near = append(bytes.Clone(text[key:head]), text[item:]...)
	feed := &feeder{text: near}
	var n yaml.Node
	if again := decode(yaml.NewDecoder(feed), &n); again == nil || feed.fed < len(near) || reason(again, 0) != reason(err, 0) {
		return text, 0
	}
	return near, bytes.Count(text[:item], []byte{'\n'}) - bytes.Count(text[key:head], []byte{'\n'})
}

// lastKey is the offset of the last line that starts with a letter; 0 if there is none.
func lastKey(text []byte) int {
	for end := len(text); end > 0; {
		at := bytes.LastIndexByte(text[:end], '\n')
		if at+1 < len(text) && text[at+1]|0x20 >= 'a' && text[at+1]|0x20 <= 'z' {
			return at + 1
		}
		end = at
	}
	return 0
}
