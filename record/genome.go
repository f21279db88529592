package record

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"burst/genome"
	"burst/genomes"
)

// genomeFile is the genome as run.
const genomeFile = "genome.yaml"

// genomeText reads it, as the manifest says that it is: also of a run that goes on.
func (f *Folder) genomeText() ([]byte, error) {
	path := filepath.Join(f.Dir, genomeFile)
	if _, err := present(path); err != nil {
		return nil, err
	}
	text, err := genome.ReadText(path)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != f.Manifest.GenomeSHA256 {
		return nil, damaged(path, "has changed since the run wrote it: SHA-256 %x found, the manifest says %s%s", sum, f.Manifest.GenomeSHA256, File{Path: genomeFile}.cure(f.Dir))
	}
	return text, nil
}

// Genome reads the genome of the run, with the seeds that it had, and holds it and the files it names to the manifest's
// hashes. Files are where they were, or came with burst.
func (f *Folder) Genome() (*genome.Genome, error) {
	m := &f.Manifest
	text, err := f.genomeText()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.Dir, genomeFile)
	var g *genome.Genome
	if m.GenomeFolder == "" {
		g, err = genome.Parse(path, text, genomes.Open)
	} else {
		g, err = genome.ParseIn(m.GenomeFolder, path, text)
	}
	if err != nil {
		return nil, err
	}
	for _, file := range g.Files {
		if !slices.Contains(m.Inputs, File(file)) {
			return nil, damaged(filepath.Join(m.GenomeFolder, file.Path), "has changed since the run: its SHA-256 is %s", file.SHA256)
		}
	}
	g.Name, g.Seed, g.RunSeed = m.Genome, m.Seed, m.RunSeed // one without a name had that of another file
	return g, nil
}
