// Package typeface holds the font of all text in pictures, Liberation Sans regular. The fonts that come with gonum's plot would make the
// program 4.5 MB larger.
package typeface

import (
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

// Font names the face, in a size.
func Font(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// Cache holds the face, and measures of its letters.
var Cache = sync.OnceValue(func() *font.Cache {
	face, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return font.NewCache(font.Collection{{Font: Font(0), Face: face}})
})
