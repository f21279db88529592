package pages

import "unsafe"

// pageBytes is the size of a usual page.
const pageBytes = 4096

// OwnSlack is how many bytes Own takes beside those that it is asked for.
const OwnSlack = 2 * pageBytes

// Own is n zeros that begin with a page, in pages that hold nothing else.
func Own(n uint64) []byte {
	all := Slice[byte](n + OwnSlack)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) % pageBytes
	return all[skip:][:n:n]
}
