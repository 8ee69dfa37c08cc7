//! Tokens as the client counts them, with the `tokenizer.json` of a model on Hugging Face.

use std::fmt;

use truetail_run::ClientTokens;

#[cfg(feature = "tokenizer")]
type Inner = std::sync::Arc<tokenizers::Tokenizer>;
/// Without the cargo feature, no value of this type exists.
#[cfg(not(feature = "tokenizer"))]
type Inner = std::convert::Infallible;

#[cfg(feature = "tokenizer")]
const AT_A_TIME: usize = 256;

/// The tokenizer of a model. Clones share it.
#[derive(Clone)]
pub struct Tokenizer {
    name: String,
    sha256: String,
    inner: Inner,
}

impl Tokenizer {
    /// Reads the tokenizer from the bytes of a file with this name.
    ///
    /// # Errors
    /// The bytes are not a `tokenizer.json`.
    #[cfg(feature = "tokenizer")]
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Tokenizer, String> {
        use sha2::{Digest, Sha256};

        let read = tokenizers::Tokenizer::from_bytes(bytes);
        let mut inner = read.map_err(|error| format!("it is no tokenizer.json: {error}"))?;
        // A tokenizer's file may limit the length of a model's input. The output that is counted here has no limit.
        inner.with_truncation(None).map_err(|error| error.to_string())?;
        inner.with_padding(None);
        let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Tokenizer { name: name.to_owned(), sha256, inner: inner.into() })
    }

    /// Fails, because this build has no tokenizers.
    ///
    /// # Errors
    /// Always: this truetail was built without the cargo feature `tokenizer`.
    #[cfg(not(feature = "tokenizer"))]
    pub fn from_bytes(_name: &str, _bytes: &[u8]) -> Result<Tokenizer, String> {
        Err("this truetail has no tokenizers; build it with --features tokenizer".to_owned())
    }

    /// Returns each text's number of tokens, without special tokens at its ends; `None` if it cannot be encoded.
    #[cfg(feature = "tokenizer")]
    pub(crate) fn count(&self, texts: &[&str]) -> Vec<Option<u64>> {
        let one = |text: &&str| Some(self.inner.encode_fast(*text, false).ok()?.len() as u64);
        let several = |texts: &[&str]| match self.inner.encode_batch_fast(texts.to_vec(), false) {
            Ok(encoded) => encoded.iter().map(|text| Some(text.len() as u64)).collect(),
            Err(_) => texts.iter().map(one).collect::<Vec<_>>(),
        };
        texts.chunks(AT_A_TIME).flat_map(several).collect()
    }

    #[cfg(not(feature = "tokenizer"))]
    pub(crate) fn count(&self, _texts: &[&str]) -> Vec<Option<u64>> {
        match self.inner {}
    }

    /// Returns a sum of zero tokens for this tokenizer.
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
