//! The interface through which a conversation began.

/// The interface through which a conversation began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Channel {
    /// `POST /v1/conversations`, or the command line.
    #[default]
    Api,
    /// The OpenAI interface.
    OpenAi,
    /// The MCP interface.
    Mcp,
    /// A widget on a website.
    Widget,
}

impl Channel {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Api, Self::OpenAi, Self::Mcp, Self::Widget];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::OpenAi => "openai",
            Self::Mcp => "mcp",
            Self::Widget => "widget",
        }
    }

    /// The channel of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.name() == name)
    }
}
