package genome

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// picture is a PNG of 3 by 2 pixels with levels of our choice.
func picture(t *testing.T, path string, at func(x, y int) color.Color) {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for x := range 3 {
		for y := range 2 {
			img.Set(x, y, at(x, y))
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	write(t, path, b.Bytes())
}

// pipe makes a named pipe where the system has a command for it.
func pipe(path string) error { return exec.Command("mkfifo", path).Run() }

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

const imageGenome = "burst: v1\nareas:\n  - {name: grey, size: [3, 2, 1]}\n  - {name: colour, size: [3, 2, 3], neurons_per_voxel: 2}\nstimuli:\n"

// An image must become neurons in ascending order, row 0 of the picture at y = 0, black voxels left out.
func TestImages(t *testing.T) {
	folder := t.TempDir()
	picture(t, filepath.Join(folder, "grey.png"), func(x, y int) color.Color { return color.Gray{Y: uint8(51 * (2*x + y))} })
	picture(t, filepath.Join(folder, "colour.png"), func(x, y int) color.Color {
		if x == 1 && y == 1 {
			return color.NRGBA{R: 255, B: 102, A: 255}
		}
		return color.Black
	})
	path := filepath.Join(folder, "net.yaml")
	write(t, path, []byte(imageGenome+"  - {area: grey, every: 3, image: grey.png}\n  - {area: colour, at: 1, image: colour.png, amount: -5}\n"))
	g, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := g.Stimuli[0]; !slices.Equal(s.Neurons, []uint32{1, 2, 3, 4, 5}) || !slices.Equal(s.Amounts, []float64{0.2, 0.4, 0.6, 0.8, 1}) {
		t.Errorf("grey: %v %v", s.Neurons, s.Amounts)
	}
	if s := g.Stimuli[1]; !slices.Equal(s.Neurons, []uint32{18, 19, 22, 23}) || !slices.Equal(s.Amounts, []float64{-5, -5, -2, -2}) {
		t.Errorf("colour: %v %v", s.Neurons, s.Amounts)
	}
}

// What is transparent counts as on black, in grey and in colour.
func TestTransparentImages(t *testing.T) {
	folder := t.TempDir()
	picture(t, filepath.Join(folder, "grey.png"), func(x, y int) color.Color {
		return color.NRGBA{R: 255, G: 255, B: 255, A: uint8(51 * (2*x + y))}
	})
	picture(t, filepath.Join(folder, "colour.png"), func(x, y int) color.Color {
		if x == 1 && y == 1 {
			return color.NRGBA{R: 255, G: 128, A: 102}
		}
		return color.NRGBA{G: 255}
	})
	path := filepath.Join(folder, "net.yaml")
	write(t, path, []byte(imageGenome+"  - {area: grey, at: 1, image: grey.png}\n  - {area: colour, at: 1, image: colour.png, amount: 5}\n"))
	g, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := g.Stimuli[0]; !slices.Equal(s.Neurons, []uint32{1, 2, 3, 4, 5}) || !slices.Equal(s.Amounts, []float64{0.2, 0.4, 0.6, 0.8, 1}) {
		t.Errorf("grey: %v %v", s.Neurons, s.Amounts)
	}
	if s := g.Stimuli[1]; !slices.Equal(s.Neurons, []uint32{18, 19, 20, 21}) || !slices.Equal(s.Amounts, []float64{2, 2, 1, 1}) {
		t.Errorf("colour: %v %v", s.Neurons, s.Amounts)
	}
}

// No name may lead out of the genome's folder or to anything but a regular file, and none may hang.
func TestFilesOutside(t *testing.T) {
	outside := t.TempDir()
	folder := t.TempDir()
	white := func(int, int) color.Color { return color.White }
	picture(t, filepath.Join(outside, "secret.png"), white)
	picture(t, filepath.Join(folder, "inside.png"), white)
	write(t, filepath.Join(folder, "text.png"), []byte("no picture"))
	links := map[string]string{"out.png": filepath.Join(outside, "secret.png"), "up.png": "../" + filepath.Base(outside) + "/secret.png",
		"folder": outside, "zero.png": "/dev/zero", "in.png": "inside.png"}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	bad := []string{"/etc/passwd", filepath.Join(outside, "secret.png"), "../x.png", "sub/../../x.png", "..", ".", "", "sub", "missing.png",
		"out.png", "up.png", "folder/secret.png", "zero.png", "text.png", "a\\0b"}
	if pipe(filepath.Join(folder, "pipe.png")) == nil {
		bad = append(bad, "pipe.png")
	}
	path := filepath.Join(folder, "net.yaml")
	for _, name := range append(bad, "inside.png", "in.png", "sub/../inside.png") {
		t.Run(name, func(t *testing.T) {
			write(t, path, []byte(imageGenome+"  - {area: grey, at: 1, image: \""+name+"\"}\n"))
			_, err := Load(path) // a pipe must not be waited for
			if !slices.Contains(bad, name) {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var faults Faults
			if !errors.As(err, &faults) || faults[0].Line != 6 || faults[0].Column != 32 {
				t.Errorf("want a fault at 6:32, got %v", err)
			}
		})
	}
}

// A picture must have the size of its area, and the area a depth for grey or colour.
func TestImagesOfWrongSize(t *testing.T) {
	folder := t.TempDir()
	picture(t, filepath.Join(folder, "p.png"), func(int, int) color.Color { return color.White })
	path := filepath.Join(folder, "net.yaml")
	for _, c := range []struct{ size, want string }{
		{"[2, 3, 1]", "2 by 3 pixels"}, {"[3, 2, 2]", "z of 1 (grey) or 3"}, {"[3, 2, 1], neurons_per_voxel: 4294967296", "at most 16777216 neurons"},
	} {
		write(t, path, []byte("burst: v1\nareas: [{name: a, size: "+c.size+"}]\nstimuli: [{area: a, at: 1, image: p.png}]\n"))
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.size, c.want, err)
		}
	}
}

// The genome itself must be a regular file of bounded size; a missing one is no fault of its text.
func TestLoadRefuses(t *testing.T) {
	folder := t.TempDir()
	if _, err := Load(filepath.Join(folder, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Load(folder); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("folder: %v", err)
	}
	if p := filepath.Join(folder, "pipe"); pipe(p) == nil {
		if _, err := Load(p); err == nil || !strings.Contains(err.Error(), "regular file") {
			t.Errorf("pipe: %v", err)
		}
	}
	big := filepath.Join(folder, "big.yaml")
	write(t, big, nil)
	if err := os.Truncate(big, 1<<40); err != nil {
		t.Skip(err)
	}
	var faults Faults
	if _, err := Load(big); !errors.As(err, &faults) {
		t.Errorf("a file of 1 TiB: %v", err)
	}
	if runtime.GOOS == "linux" {
		if _, err := Load("/dev/zero"); err == nil {
			t.Error("/dev/zero read")
		}
	}
}
