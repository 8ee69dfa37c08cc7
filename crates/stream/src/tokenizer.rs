//! Tokens as the client counts them, with the tokenizer of a model: a `tokenizer.json` as Hugging Face's models have it.

use std::fmt;

use truetail_run::ClientTokens;

#[cfg(feature = "tokenizer")]
type Inner = std::sync::Arc<tokenizers::Tokenizer>;
/// Without the feature there is none.
#[cfg(not(feature = "tokenizer"))]
type Inner = std::convert::Infallible;

/// Texts that are tokenized at a time.
#[cfg(feature = "tokenizer")]
const AT_A_TIME: usize = 256;

/// The tokenizer of a model. Clones are the same one.
#[derive(Clone)]
pub struct Tokenizer {
    name: String,
    sha256: String,
    inner: Inner,
}

impl Tokenizer {
    /// The tokenizer in a file of this name with these bytes.
    ///
    /// # Errors
    /// What is wrong with it, and that a truetail without the cargo feature `tokenizer` has none.
    #[cfg(feature = "tokenizer")]
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Tokenizer, String> {
        use sha2::{Digest, Sha256};

        let read = tokenizers::Tokenizer::from_bytes(bytes);
        let mut inner = read.map_err(|error| format!("it is no tokenizer.json: {error}"))?;
        // What a model is given at once has a limit, and so may have its tokenizer's file. What it said has none.
        inner.with_truncation(None).map_err(|error| error.to_string())?;
        inner.with_padding(None);
        let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Tokenizer { name: name.to_owned(), sha256, inner: inner.into() })
    }

    /// The tokenizer in a file of this name with these bytes.
    ///
    /// # Errors
    /// Always: this truetail was built without the cargo feature `tokenizer`.
    #[cfg(not(feature = "tokenizer"))]
    pub fn from_bytes(_name: &str, _bytes: &[u8]) -> Result<Tokenizer, String> {
        Err("this truetail has no tokenizers; build it with --features tokenizer".to_owned())
    }

    /// How many tokens each of the texts has, without special ones at its beginning or end; `None` for one that cannot be told.
    #[cfg(feature = "tokenizer")]
    pub(crate) fn count(&self, texts: &[&str]) -> Vec<Option<u64>> {
        let one = |text: &&str| Some(self.inner.encode_fast(*text, false).ok()?.len() as u64);
        let several = |texts: &[&str]| match self.inner.encode_batch_fast(texts.to_vec(), false) {
            Ok(encoded) => encoded.iter().map(|text| Some(text.len() as u64)).collect(),
            Err(_) => texts.iter().map(one).collect::<Vec<_>>(),
        };
        texts.chunks(AT_A_TIME).flat_map(several).collect()
    }

    /// There is no tokenizer.
    #[cfg(not(feature = "tokenizer"))]
    pub(crate) fn count(&self, _texts: &[&str]) -> Vec<Option<u64>> {
        match self.inner {}
    }

    /// No tokens yet.
    pub(crate) fn no_tokens(&self) -> ClientTokens {
        ClientTokens::new(self.name.clone(), self.sha256.clone())
    }
}

impl PartialEq for Tokenizer {
    fn eq(&self, other: &Tokenizer) -> bool {
        self.sha256 == other.sha256
    }
}

impl Eq for Tokenizer {}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("name", &self.name).field("sha256", &self.sha256).finish_non_exhaustive()
    }
}
