// Package pages makes large arrays that are read at random.
package pages
