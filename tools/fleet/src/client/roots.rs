//! The authorities whose signature under a gateway's certificate counts.

use std::sync::Arc;

use orange_api::{Error, ErrorKind, Result};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The certificates of a PEM file.
///
/// # Errors
/// `usage` when it has none, or one that cannot be read.
pub fn read(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let read: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found =
        read.map_err(|cause| unusable(&format!("the file of authorities cannot be read: {cause}")))?;
    match found.is_empty() {
        true => Err(unusable("the file of authorities has no certificate")),
        false => Ok(found),
    }
}

/// TLS with these authorities, or with the public ones.
///
/// # Errors
/// `usage` for a certificate that is none of an authority.
pub fn tls(authorities: Option<Vec<CertificateDer<'static>>>) -> Result<ClientConfig> {
    let mut store = RootCertStore::empty();
    match authorities {
        Some(own) => {
            for certificate in own {
                store.add(certificate).map_err(|cause| unusable(&cause.to_string()))?;
            }
        }
        None => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder =
        builder.with_safe_default_protocol_versions().map_err(|cause| unusable(&cause.to_string()))?;
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}

fn unusable(what: &str) -> Error {
    Error::new(ErrorKind::Usage, what).help(
        "`--authority` names a PEM file with the certificate of the authority that has signed the gateway's",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_the_public_ones_unless_a_file_names_others() {
        assert!(tls(None).is_ok());
        assert_eq!(
            read(b"no certificate").unwrap_err().message,
            "the file of authorities has no certificate"
        );
        assert!(tls(Some(vec![CertificateDer::from(vec![1, 2, 3])])).is_err());
    }
}
